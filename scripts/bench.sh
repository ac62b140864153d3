#!/usr/bin/env bash
# Every comparison in turn, figures in build/bench; a part that fails does not keep the others from being measured.
# usage: scripts/bench.sh <python> --quick|--full
set -uo pipefail
python=$1 effort=$2 failed=()

part() {
    printf '\n==> %s\n' "$*"
    "$python" -m "$@" || failed+=("$1")
}

part bench "$effort"
[ "$effort" = --full ] && facts=1M || facts=100k
part bench.facts --facts "$facts"
part bench.ontology
[ "$effort" = --full ] && part bench.ontology --nodes 500k --stores memory,sqlite,postgresql --calls 5 --peer-calls 2
[ "$effort" = --full ] && part bench.cypher --sizes 1M --stores memory,sqlite,postgresql
for each in bench.graphql bench.cypher bench.programs bench.vectors bench.actors bench.cli; do part "$each"; done
[ "${#failed[@]}" -eq 0 ] && exit 0
printf '\n==> not measured, or a comparison whose answers differed: %s\n' "${failed[*]}" >&2
exit 1
