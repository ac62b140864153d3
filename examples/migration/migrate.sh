#!/usr/bin/env bash
# Moves the memory of two other programs into one store, and asks it: examples/migration/migrate.sh [store URL]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export UGS_STORE=${1:-file:./migrated}
ugs ingest "$here/memory.json" --format mcp-memory
ugs ingest "$here/graphiti.json" --format graphiti
ugs ingest "$here/graphiti.json" --format graphiti # a second time adds nothing
ugs recall where does Lena live --limit 2
ugs recall where does Lena work --limit 1
