#!/usr/bin/env bash
# What CI runs, and what a person runs: the storage is the example file, the tests are the kit.
# usage: ./ci.sh [options of pytest]
set -euo pipefail
cd "$(dirname "$0")"
[ -f src/ugs_dbm/storage.py ] || cp ../one_file_backend.py src/ugs_dbm/storage.py
${INSTALL:-python -m pip install --quiet --disable-pip-version-check} --no-deps --no-build-isolation .
cd "$(mktemp -d)"
exec python -m pytest --pyargs ugs_conformance -p no:cacheprovider -q --backend "dbm:$PWD/graph" "$@"
