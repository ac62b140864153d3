#!/usr/bin/env bash
# Builds GraphiQL and Studio from npm packages into gateway/ugs_gateway/static, where the gateway finds them.
# Without Node.js or a registry the gateway still works and serves plain pages; in CI that is a failure.
# usage: scripts/web.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/gateway/ugs_gateway/static work=build/web

give_up() {
    echo "==> GraphiQL and Studio are not built: $1. The gateway serves plain pages instead." >&2
    [ -z "${CI:-}" ] || exit 1
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || give_up "Node.js is not installed"
mkdir -p "$work"
rm -rf "$work/src" "$work/studio" "$work/client"
cp -r web/. "$work/"
cp -r clients/typescript "$work/client"
cp schema/ugs_schema/schema.graphql "$work/schema.graphql"
cd "$work"
if ! cmp -s package-lock.json node_modules/.installed 2>/dev/null; then
    echo "==> fetching the packages of GraphiQL and Studio"
    npm ci --no-audit --no-fund --loglevel=error >/dev/null || give_up "its packages cannot be fetched"
    cp package-lock.json node_modules/.installed
fi
echo "==> building GraphiQL and Studio"
node client/generate.mjs schema.graphql || give_up "the client cannot be generated"
node build.mjs "$out" || give_up "the build failed"
