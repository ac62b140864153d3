#!/usr/bin/env bash
# Runs make targets one after the other; stops at the first that fails and names it.
# usage: scripts/test.sh <target>...
set -uo pipefail
total=$# number=0 begun=$SECONDS

for step in "$@"; do
    number=$((number + 1)) started=$SECONDS
    printf '\n==> [%d/%d] %s\n' "$number" "$total" "$step"
    if ! make --no-print-directory "$step"; then
        printf '\n==> FAILED at step %d of %d: %s (alone: make %s)\n' "$number" "$total" "$step" "$step" >&2
        exit 1
    fi
    printf '==> %s: ok, %d s\n' "$step" $((SECONDS - started))
done
printf '\n==> all %d steps passed in %d s\n' "$total" $((SECONDS - begun))
