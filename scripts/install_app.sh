#!/usr/bin/env bash
# Installs the gateway for use, not for development: no test tools, every version and hash from the lock.
# usage: scripts/install_app.sh <venv> <lock> [<project folder or wheel>]
set -euo pipefail
# uv trusts the certificates that the machine trusts.
export UV_SYSTEM_CERTS=1
venv=$1 lock=$2 what=${3:-.}
python=${PYTHON:-python3}

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$(dirname "$0")/get_uv.sh" "$tools" "$lock"
"$python" -m venv --without-pip "$venv"
"$tools/bin/uv" pip install --quiet --python "$venv/bin/python" \
    --constraint "$lock" --build-constraint "$lock" "ugs-gateway[postgresql,neo4j,vectors,otel] @ file://$(realpath "$what")"
