#!/usr/bin/env bash
# Runs a command whose temporary files lie in memory, where there is room: what stores and servers mean does not depend
# on waiting for a disk, and a killed process loses as little there as on one. Without room they lie where they always do.
# usage: scripts/in_memory.sh <command> [<argument>...]
set -uo pipefail
MEMORY=/dev/shm
WANTED_KB=$((6 * 1024 * 1024))

has_room() {
    [ -w "$MEMORY" ] && [ -r /proc/meminfo ] || return 1
    local free available
    free=$(df -Pk "$MEMORY" | awk 'NR == 2 {print $4}')
    available=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
    [ "${free:-0}" -ge "$WANTED_KB" ] && [ "${available:-0}" -ge "$WANTED_KB" ]
}

has_room || exec "$@"
folder=$(mktemp -d "$MEMORY/ugs-test-XXXXXX") || exec "$@"
chmod 755 "$folder" # PostgreSQL runs as another user, who must be able to reach its data
trap 'rm -rf "$folder"' EXIT
TMPDIR="$folder" "$@"
