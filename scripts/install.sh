#!/usr/bin/env bash
# Creates the development environment: the locked dependencies, exactly, and the project itself, editable.
# usage: scripts/install.sh <venv> <lock>
set -euo pipefail
# uv trusts the certificates that the machine trusts.
export UV_SYSTEM_CERTS=1
venv=$1 lock=$2

say() { printf '==> %s\n' "$*"; }

[ -x "$venv/bin/uv" ] || say "creating $venv"
"$(dirname "$0")/get_uv.sh" "$venv" "$lock"
say "installing the locked dependencies"
"$venv/bin/uv" pip sync --quiet --python "$venv/bin/python" --require-hashes "$lock"
say "installing this project (editable)"
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
say "ready: $venv/bin/ugs help   (or \`. $venv/bin/activate\`, then \`ugs help\`)"
