#!/usr/bin/env bash
# Runs make targets one after the other, those joined by "+" side by side; stops at the first step that fails.
# usage: scripts/test.sh <target>[+<target>]...
set -uo pipefail
total=$# number=0 begun=$SECONDS

# One target; its lines carry its name when others run beside it.
run_target() {
    if [ "$2" = alone ]; then make --no-print-directory "$1"; else make --no-print-directory "$1" 2>&1 | sed -u "s/^/$1: /"; fi
}

# One step: every target of it is let finish, so that one run tells all that is wrong.
run_step() {
    local targets=(${1//+/ }) pids=() failed=() index how=alone
    [ "${#targets[@]}" -gt 1 ] && how=beside
    for target in "${targets[@]}"; do run_target "$target" "$how" & pids+=($!); done
    for index in "${!targets[@]}"; do wait "${pids[$index]}" || failed+=("${targets[$index]}"); done
    [ "${#failed[@]}" -eq 0 ] && return
    printf '\n==> FAILED at step %d of %d: %s (alone: make %s)\n' "$number" "$total" "${failed[*]}" "${failed[0]}" >&2
    exit 1
}

for step in "$@"; do
    number=$((number + 1)) started=$SECONDS
    printf '\n==> [%d/%d] %s\n' "$number" "$total" "${step//+/ and }"
    run_step "$step"
    printf '==> %s: ok, %d s\n' "${step//+/ and }" $((SECONDS - started))
done
printf '\n==> all %d steps passed in %d s\n' "$total" $((SECONDS - begun))
