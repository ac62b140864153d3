#!/usr/bin/env bash
# The quick tests with other versions of Python: those that this machine has (on PATH, of pyenv or of uv), or that uv can fetch.
# usage: scripts/pythons.sh <venv with uv> <folder of the environments> <version or path>...
set -uo pipefail
# uv trusts the certificates that the machine trusts.
export UV_SYSTEM_CERTS=1
uv=$1/bin/uv folder=$2
shift 2
failed=() missing=()

find_python() {
    "$uv" python find --no-project --quiet "$1" 2>/dev/null || ls -d "$HOME"/.pyenv/versions/"$1".*/bin/python 2>/dev/null | tail -n 1
}

for version in "$@"; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        "$uv" python install --quiet "$version" 2>/dev/null && python=$("$uv" python find --no-project --quiet "$version")
    fi
    [ -n "$python" ] || { missing+=("$version"); continue; }
    venv=$folder/$(basename "$version")
    echo "==> $("$python" --version) at $python"
    [ -x "$venv/bin/python" ] || "$uv" venv --quiet --python "$python" "$venv"
    "$uv" pip sync --quiet --python "$venv/bin/python" --require-hashes requirements.lock &&
        "$uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable . &&
        UGS_TEST_WITHOUT_SERVERS=1 "$venv/bin/python" -m pytest -p no:cacheprovider -q -m "not slow" \
            tests/ugs tests/schema tests/backends/memory tests/python_client || failed+=("$version")
done
[ "${#missing[@]}" -eq 0 ] || echo "==> not here and not to be fetched: ${missing[*]}" >&2
[ "${#failed[@]}" -eq 0 ] || { echo "==> FAILED with: ${failed[*]}" >&2; exit 1; }
[ "${#missing[@]}" -eq 0 ] || [ -z "${CI:-}" ] || exit 1
