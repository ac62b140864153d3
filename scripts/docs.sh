#!/usr/bin/env bash
# Builds the documentation site from docs/ and the code; every link and every page without a place is an error.
# usage: scripts/docs.sh <venv> <folder of the site>
set -euo pipefail
cd "$(dirname "$0")/.."
export NO_MKDOCS_2_WARNING=1 PYTHONPATH=$PWD/scripts
"$1/bin/mkdocs" build --quiet --strict --site-dir "$2"
echo "==> $(find "$2" -name index.html | wc -l) pages in $2"
