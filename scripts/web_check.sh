#!/usr/bin/env bash
# Types, lint and unit tests of Studio and of the TypeScript client, with the packages that scripts/web.sh has fetched into build/web.
# Without Node.js or those packages there is nothing to check; in CI that is a failure.
# usage: scripts/web_check.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v node >/dev/null || [ ! -x build/web/node_modules/.bin/vitest ]; then
    echo "==> Studio is not checked: Node.js or its packages are not there (make web)." >&2
    [ -z "${CI:-}" ] || exit 1
    exit 0
fi
rm -rf build/web/studio build/web/client
cp -r web/. build/web/
cp -r clients/typescript build/web/client
cd build/web
export NO_COLOR=1 UGS_SCHEMA=$OLDPWD/schema/ugs_schema/schema.graphql
node client/generate.mjs "$UGS_SCHEMA"
node_modules/.bin/tsc
node_modules/.bin/tsc -p client/tsconfig.json --noEmit
node_modules/.bin/biome lint --error-on-warnings
node_modules/.bin/vitest run --reporter=dot
