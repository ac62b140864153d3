#!/usr/bin/env bash
# Builds what a release consists of, and checks it; publishes nothing. The checklist is in docs/releasing.md.
# usage: scripts/release.sh <venv> [<folder>]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/$1/bin out=${2:-build/release}
say() { printf '==> %s\n' "$*"; }
fail() { printf 'release: %s\n' "$*" >&2; exit 1; }

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
[ -f gateway/ugs_gateway/static/studio/index.html ] || fail "Studio and GraphiQL are not built: run \`make web\`"
grep -q "^## \[$version\]" CHANGELOG.md || fail "CHANGELOG.md has no section for $version"
grep -q "ugs-gateway:$version" docker-compose.yml || fail "docker-compose.yml names another version than $version"
grep -q "default = \"$version\"" docker-bake.hcl || fail "docker-bake.hcl names another version than $version"
[ -z "$(git status --porcelain 2>/dev/null)" ] || say "careful: uncommitted changes go into these files"

rm -rf "$out"
mkdir -p "$out"
say "building version $version: source distribution, and the wheel from it"
"$bin/python" -m build --no-isolation --outdir "$out" . >"$out/build.log" 2>&1 || { tail -n 20 "$out/build.log" >&2; exit 1; }
rm "$out/build.log"
say "metadata"
"$bin/twine" check --strict "$out"/*.whl "$out"/*.tar.gz
say "bill of materials and checksums"
"$bin/python" scripts/sbom.py requirements.lock "$version" > "$out/ugs-gateway-$version.cdx.json"
(cd "$out" && sha256sum -- * > SHA256SUMS && cat SHA256SUMS)
say "ready in $out; nothing was published. Next: docs/releasing.md"
