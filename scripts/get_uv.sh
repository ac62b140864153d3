#!/usr/bin/env bash
# Puts the locked uv into an environment, checked by the lock's hashes; it installs several times faster than pip.
# usage: scripts/get_uv.sh <venv> <lock>
set -euo pipefail
venv=$1 lock=$2

if [ ! -x "$venv/bin/python" ]; then
    python=${PYTHON:-$("$(dirname "$0")/python.sh")}
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed, $python is $("$python" --version 2>&1); name another: PYTHON=python3.13" >&2
        exit 1
    }
    "$python" -m venv "$venv"
fi

wanted=$(sed -n 's/^uv==\([^ ;]*\).*/\1/p' "$lock")
if [ "$("$venv/bin/uv" --version 2>/dev/null | cut -d' ' -f2)" != "$wanted" ]; then
    awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' "$lock" > "$venv/uv.txt"
    "$venv/bin/python" -m pip install --quiet --require-hashes --no-deps -r "$venv/uv.txt"
fi
