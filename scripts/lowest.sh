#!/usr/bin/env bash
# Proves the lower bounds in pyproject.toml: installs the oldest version of every direct dependency, then runs the quick tests.
# usage: scripts/lowest.sh <venv with uv> <folder of the environment>
set -euo pipefail
# uv trusts the certificates that the machine trusts.
export UV_SYSTEM_CERTS=1
uv=$1/bin/uv venv=$2

[ -x "$venv/bin/python" ] || "$uv" venv --quiet --python "$1/bin/python" "$venv"
echo "==> installing the tools of the tests as they are locked, then the oldest direct dependencies"
# httpx: what the test client of the oldest Starlette needs.
"$uv" pip sync --quiet --python "$venv/bin/python" --require-hashes requirements.lock
"$uv" pip install --quiet --python "$venv/bin/python" --upgrade --resolution lowest-direct --editable ".[all,conformance]" "httpx>=0.28"
echo "==> the quick tests with them"
UGS_TEST_WITHOUT_SERVERS=1 "$venv/bin/python" -m pytest tests/ugs tests/schema tests/backends/memory -q -m "not slow" -x
