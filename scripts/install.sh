#!/usr/bin/env bash
# Creates the environment with the locked dependencies and the project itself, editable.
# usage: scripts/install.sh <venv> <lock>
set -euo pipefail
venv=$1 lock=$2
python=${PYTHON:-python3}

say() { printf '==> %s\n' "$*"; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Python 3.11 or newer is needed; $python is $("$python" --version 2>&1). Try: make install PYTHON=python3.12" >&2
    exit 1
}

if [ ! -x "$venv/bin/python" ]; then
    say "creating $venv"
    "$python" -m venv "$venv"
fi

# uv comes from the same lock, checked by the same hashes; it installs several times faster than pip.
wanted=$(sed -n 's/^\(uv==[^ ;]*\).*/\1/p' "$lock")
if [ "uv==$("$venv/bin/uv" --version 2>/dev/null | cut -d' ' -f2)" != "$wanted" ]; then
    say "installing $wanted"
    awk '/^uv==/ { on = 1 } on { print } on && !/\\$/ { exit }' "$lock" > "$venv/uv.txt"
    "$venv/bin/pip" install --quiet --require-hashes --no-deps -r "$venv/uv.txt"
fi

say "installing the locked dependencies"
"$venv/bin/uv" pip sync --quiet --python "$venv/bin/python" --require-hashes "$lock"
say "installing this project (editable)"
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
say "ready: $venv/bin/ugs"
