#!/usr/bin/env bash
# Runs make targets one after the other, those joined by "+" side by side; stops at the first step that fails.
# usage: scripts/test.sh <target>[+<target>]...
set -uo pipefail
total=$# number=0 begun=$SECONDS
LOGS=build/test
mkdir -p "$LOGS"

# One target, its output kept; its lines carry its name when others run beside it.
run_target() {
    local mark="s/^/$1: /"
    [ "$2" = alone ] && mark=
    make --keep-going --no-print-directory "$1" 2>&1 | tee "$LOGS/$1.log" | sed -u "$mark"
}

# What went wrong comes last, where whoever reads the end of a long log finds it.
tell_failures() {
    grep -aE '^(FAILED|ERROR|E   )|error:|\*\*\*|failed' "$LOGS/$1.log" | cut -c1-200 | tail -n 15 | sed "s/^/$1: /"
}

# One step: every target of it is let finish, so that one run tells all that is wrong.
run_step() {
    local targets=(${1//+/ }) pids=() failed=() index how=alone
    [ "${#targets[@]}" -gt 1 ] && how=beside
    for target in "${targets[@]}"; do run_target "$target" "$how" & pids+=($!); done
    for index in "${!targets[@]}"; do wait "${pids[$index]}" || failed+=("${targets[$index]}"); done
    [ "${#failed[@]}" -eq 0 ] && return
    for target in "${failed[@]}"; do tell_failures "$target"; done >&2
    printf '\n==> FAILED at step %d of %d: %s (alone: make %s; whole logs in %s)\n' "$number" "$total" "${failed[*]}" "${failed[0]}" "$LOGS" >&2
    exit 1
}

for step in "$@"; do
    number=$((number + 1)) started=$SECONDS
    printf '\n==> [%d/%d] %s\n' "$number" "$total" "${step//+/ and }"
    run_step "$step"
    printf '==> %s: ok, %d s\n' "${step//+/ and }" $((SECONDS - started))
done
printf '\n==> all %d steps passed in %d s\n' "$total" $((SECONDS - begun))
