#!/usr/bin/env bash
# Builds GraphiQL from its npm packages into gateway/static/graphiql, where the gateway finds it.
# Without Node.js or a registry the gateway still works and serves a plain page; in CI that is a failure.
# usage: scripts/web.sh
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/gateway/static/graphiql work=build/web

give_up() {
    echo "==> GraphiQL is not built: $1. The gateway serves a plain page instead." >&2
    [ -z "${CI:-}" ] || exit 1
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || give_up "Node.js is not installed"
mkdir -p "$work"
cp -r web/package.json web/package-lock.json web/.npmrc web/build.mjs web/index.html web/src "$work/"
cd "$work"
if ! cmp -s package-lock.json node_modules/.installed 2>/dev/null; then
    echo "==> fetching the packages of GraphiQL"
    npm ci --no-audit --no-fund --loglevel=error >/dev/null || give_up "its packages cannot be fetched"
    cp package-lock.json node_modules/.installed
fi
echo "==> building GraphiQL"
node build.mjs "$out" || give_up "the build failed"
