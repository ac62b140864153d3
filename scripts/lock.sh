#!/usr/bin/env bash
# Resolves every dependency and extra for Python 3.11+ on every platform, with hashes. Pins that still fit stay as they are;
# UPGRADE=1 takes the newest versions.
# usage: scripts/lock.sh <uv> <lock>
set -euo pipefail
# uv trusts the certificates that the machine trusts.
export UV_SYSTEM_CERTS=1
uv=$1 lock=$2
# Only what the registry says goes into the lock: no local folders, no addresses of any machine's set-up.
unset PIP_FIND_LINKS UV_FIND_LINKS
"$uv" pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes ${UPGRADE:+--upgrade} \
    --no-annotate --no-emit-index-url --no-emit-find-links \
    --custom-compile-command "make lock" pyproject.toml --output-file "$lock"
echo "$lock: $(grep -c '==' "$lock") pinned packages"
