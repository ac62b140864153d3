#!/usr/bin/env bash
# Runs make targets one after the other, those joined by "+" side by side, half as many again at a time as there are
# cores: the longest first, then whatever comes next takes the place of the one that has ended. Stops at the first step
# that fails.
# usage: scripts/test.sh <target>[+<target>]...
set -uo pipefail
total=$# number=0 begun=$SECONDS
LOGS=build/test
mkdir -p "$LOGS"
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# A part waits for a third to two thirds of its time: for timers, processes that start or end, and disks.
PLACES=$((cores > 2 ? cores + cores / 2 : 3))

# One target, its output kept; its lines carry its name when others run beside it.
run_target() {
    local mark="s/^/$1: /" started=$SECONDS status
    [ "$2" = alone ] && mark=
    make --keep-going --no-print-directory "$1" 2>&1 | tee "$LOGS/$1.log" | sed -u "$mark"
    status=${PIPESTATUS[0]}
    [ "$2" = alone ] || printf '==> %s: %s, %d s\n' "$1" "$([ "$status" -eq 0 ] && echo ok || echo FAILED)" $((SECONDS - started))
    [ "$status" -eq 0 ] || touch "$LOGS/$1.failed"
}

# What went wrong comes last, where whoever reads the end of a long log finds it.
tell_failures() {
    grep -aE '^(FAILED|ERROR|E   )|error:|\*\*\*|failed' "$LOGS/$1.log" | cut -c1-200 | tail -n 15 | sed "s/^/$1: /"
}

# One step: every target of it is let finish, so that one run tells all that is wrong.
run_step() {
    local targets=(${1//+/ }) failed=() how=alone
    [ "${#targets[@]}" -gt 1 ] && how=beside
    for target in "${targets[@]}"; do
        rm -f "$LOGS/$target.failed"
        while [ "$(jobs -rp | wc -l)" -ge "$PLACES" ]; do sleep 0.2; done
        run_target "$target" "$how" &
    done
    wait
    for target in "${targets[@]}"; do [ -e "$LOGS/$target.failed" ] && failed+=("$target"); done
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
