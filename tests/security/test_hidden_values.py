"""Hidden values cannot be found out by asking about them: where they exist, answers are what they are where they do not.

Two gateways get the same graph with other secrets in it. Whoever may not see the secrets of the first asks both about
them: every argument, also inside inputs, of every query field, mutation and MCP tool, with the secret words themselves
and with the ids of hidden records. The answers must be equal, but for what is random in each. A new field or tool is
here without anybody's help.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLSchema, get_named_type, is_required_argument

from tests.gateway.fuzz_stores import IN_FULL
from tests.gateway.test_argument_fuzz import places, selection
from tests.security.access_matrix import BRIEF_DEPTH, Request, Writer, graphql, literal
from tests.security.test_access_matrix import (
    Matrix,
    mcp_values,
    opened,
    query_cases,
    rpc,
    schemas_of,
    tool_arguments,
)
from ugs_gateway.settings import Tenancy

SHARE = 11
"""One probe in so many for each place, other ones from place to place, where not all are tried."""
VIEWERS = ("colleague", "other project", "other tenant")
TEXTS = ("String", "ID", "JSON", "UUID")
RANDOM = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}"  # ids
    r"|\b(?:evt_)?[0-9]{13}(?:_[0-9]+)?\b|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]+)"  # times
    r"|(?<![0-9a-z])[A-Zabm-p_a-z]*?_?[0-9a-f]{8}\b|\b[A-Za-z0-9_-]{30,}={0,2}"  # names that are made up, cursors
    r'|"durationMs":[0-9.]+'
)


CHOSEN_ID = b'"code":"NOTE_EXISTS"'
"""A note may be given an id: one that is taken is refused, whatever text comes with it, and ids cannot be guessed."""


def told(answer: bytes) -> str:
    """An answer without what is random in it."""
    return RANDOM.sub("~", answer.decode("utf-8", "replace"))


def probes(matrix: Matrix) -> dict[str, list[str]]:
    """Secret texts and ids of hidden records, for each viewer those that are hidden from them."""
    planted, at = matrix.planted, matrix.planted.values
    private = ["fact", "note", "source", "reason", "olderfact", "deletedfact", "deletednote", "ingested"]
    words = [planted.mark(kind) for kind in [*private, "program", "literal", "oldprogram", "deletedprogram"]]
    ids = [at["factId"], at["noteId"], *planted.secrets["ids"], f"fact/{at['factId']}", f"note/{at['noteId']}"]
    events = [f"event/{id}" for id in at["events"][-3:]]
    beyond = [planted.mark(kind) for kind in ("entity", "alias", "predicate", "sharedfact", "sharednote")]
    hidden = [*words, *ids, *events]
    return {"colleague": hidden, "other project": hidden + beyond, "other tenant": hidden + beyond}


class Worlds:
    """Two gateways whose secrets differ, and the answers that differ between them."""

    def __init__(self, here: Matrix, there: Matrix) -> None:
        self.here, self.there = here, there
        self.probes = probes(here)
        self.asked = 0
        self.differences: list[str] = []

    async def compare(self, viewer: str, here: Request, there: Request) -> None:
        """Ask both, and note where the answers differ."""
        one, other = await self.here.ask_as(viewer, here), await self.there.ask_as(viewer, there)
        self.asked += 1
        if CHOSEN_ID not in one.body and (one.status, told(one.body)) != (other.status, told(other.body)):
            self.differences.append(
                f"{viewer}: {json.dumps(here.body)[:600]}\n  {told(one.body)[:400]}\n  {told(other.body)[:400]}"
            )

    def share(self, viewer: str, number: int) -> Sequence[str]:
        found = self.probes[viewer]
        return found if IN_FULL else found[number % SHARE :: SHARE]


def calls(matrix: Matrix, schema: GraphQLSchema, root: Any) -> Iterator[tuple[str, str]]:
    """For every place of a text in an argument of a field: the document before and behind it."""
    values = matrix.values()
    for name, field in root.fields.items():
        writer = Writer(schema, values, BRIEF_DEPTH)
        for argument, one in field.args.items():
            for opening, closing, leaf in places(one.type, 3 if IN_FULL else 2):
                if get_named_type(leaf).name not in TEXTS:
                    continue
                others = {
                    other: writer.argument(name, other, another.type)
                    for other, another in field.args.items()
                    if other != argument and (is_required_argument(another) or f"{name}.{other}" in values)
                }
                told = "".join(f"{key}: {literal(value)} " for key, value in others.items())
                yield f"{name}({told}{argument}: {opening}", f"{closing}) {selection(field.type)}"


CYPHER = (
    "MATCH (n) WHERE any(k IN keys(n) WHERE n[k] = '{}') RETURN count(*)",
    "MATCH (a)-[r]->(b) WHERE any(k IN keys(r) WHERE r[k] = '{}') RETURN count(*)",
    "MATCH (n {{value: '{0}'}}) RETURN n UNION MATCH (n {{name: '{0}'}}) RETURN n UNION MATCH (n {{id: '{0}'}}) RETURN n",
    "MATCH (n) RETURN labels(n), count(*), min(n.value), max(n.value), collect(n.confidence) ORDER BY count(*)",
    "MATCH ()-[r]->() RETURN type(r), count(*), min(r.value), max(r.value)",
    "MATCH (n) WHERE elementId(n) = '{0}' OR id(n) = '{0}' RETURN n",
    "MATCH (n) WHERE n.value > '{}' RETURN count(*)",
)


RANKED = (
    "query($q: String!) { recall(query: $q) { items { kind text score why } } }",
    "query($q: String!) { search(query: $q) { totalCount edges { node { score node { id } } } } }",
    "query($q: String!) { search(query: $q, mode: HYBRID) { totalCount edges { node { score node { id } } } } }",
)
"""Scores of what is visible, which rare words in what is hidden must not change."""


async def ask_all(worlds: Worlds) -> None:
    schema = (await schemas_of(worlds.here))["/graphql"]
    for viewer in VIEWERS:
        cases = zip(query_cases(worlds.here, schema), query_cases(worlds.there, schema), strict=True)
        for here, there in cases if IN_FULL or viewer == "colleague" else ():
            await worlds.compare(viewer, here, there)
        await ask_places(worlds, schema, "query_type", viewer)
        for probe in worlds.probes[viewer]:
            asked = f"{worlds.here.planted.values['person']} {probe}"
            for query in RANKED:
                await worlds.compare(viewer, *[graphql("ranked", query, {"q": asked})] * 2)
        for number, text in enumerate(CYPHER):
            for probe in worlds.probes[viewer] if "{" in text else [""]:
                for view in ("GRAPH", "FACTS", "ALL"):
                    query = "query($q: String!) { cypher(query: $q, view: %s) { columns rows } }" % view
                    case = graphql(f"cypher {number}", query, {"q": text.format(probe)})
                    await worlds.compare(viewer, case, case)
        await ask_tools(worlds, viewer)
    for viewer in VIEWERS if IN_FULL else VIEWERS[:1]:
        await ask_places(worlds, schema, "mutation_type", viewer)


async def ask_places(worlds: Worlds, schema: GraphQLSchema, root: str, viewer: str) -> None:
    word = "mutation " if root == "mutation_type" else ""
    fields = getattr(schema, root)
    pairs = zip(calls(worlds.here, schema, fields), calls(worlds.there, schema, fields), strict=True)
    for number, (here, there) in enumerate(pairs):
        for probe in worlds.share(viewer, number):
            one, other = (f"{word}{{ {a}{json.dumps(probe)}{b} }}" for a, b in (here, there))
            await worlds.compare(viewer, graphql("place", one), graphql("place", other))


async def ask_tools(worlds: Worlds, viewer: str) -> None:
    listing = await worlds.here.ask_as(viewer, rpc("tools", "tools/list", {}))
    number = 0
    for tool in json.loads(listing.body)["result"]["tools"]:
        if not tool["annotations"]["readOnlyHint"]:
            continue
        for name, kind in tool["inputSchema"].get("properties", {}).items():
            if '"string"' not in json.dumps(kind):
                continue
            number += 1
            for probe in worlds.share(viewer, number):
                cases = []
                for matrix in (worlds.here, worlds.there):
                    arguments: Mapping[str, Any] = {**tool_arguments(tool, mcp_values(matrix)), name: probe}
                    cases.append(rpc("tool", "tools/call", {"name": tool["name"], "arguments": arguments}))
                await worlds.compare(viewer, *cases)


@pytest.mark.parametrize("store", ["memory:", "sqlite:///{}/graph.db"] if IN_FULL else ["memory:"])
async def test_hidden_values_change_no_answer(store: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("here", "there")]
    for folder in folders:
        folder.mkdir()
    urls = [store.format(folder) for folder in folders]
    async with (
        opened(urls[0], folders[0], Tenancy.SHARED) as here,
        opened(urls[1], folders[1], Tenancy.SHARED, shared=here.planted) as there,
    ):
        worlds = Worlds(here, there)
        await ask_all(worlds)
        assert worlds.differences == [], "\n".join(worlds.differences)
        assert worlds.asked > 500
        # A test of the test: whoever may see them gets other answers.
        query = graphql(
            "own",
            "{ facts(includeInactive: true, objectValue: %s) { edges { node { id } } } }"
            % json.dumps(here.planted.mark("fact")),
        )
        await worlds.compare("owner", query, query)
        assert worlds.differences
