#!/usr/bin/env bash
# Makes what is made: typed methods from the schema, and the client without asyncio. A test says when this is due.
# usage: clients/python/generate.sh <venv>
set -euo pipefail
cd "$(dirname "$0")"
bin=$(cd "../../$1" && pwd)/bin
# -P: the folder of the script is not where modules are looked for, as its `http` would hide the one of Python.
"$bin/python" -P ugs_client/codegen.py ../../schema/ugs_schema/schema.graphql ugs_client/graph
"$bin/python" -P ugs_client/without_asyncio.py
"$bin/ruff" format --quiet ugs_client/graph ugs_client/client.py
"$bin/ruff" check --quiet --fix ugs_client/graph ugs_client/client.py
"$bin/ruff" format --quiet ugs_client/graph ugs_client/client.py
