"""JSON that a store renders itself has the characters that the kernel would write from the same rows."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ugs.graph.api import Graph
from ugs.graph.model import NODES
from ugs.reads.expressions import ByPrefix, FirstProperty, Instant, Joined, JsonKey
from ugs.reads.plan import Page, Read
from ugs.reads.rendering import Column, Expression, Items, PageTemplate, Rendering, RowTemplate, Text
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.harness import Harness

KEYS = ["label", "name", "title", "", "$1", "a.b", 'qu"ote', "back\\slash", "it's", "ключ", "{}", "%s", "line\nfeed"]
STORED = [key for key in KEYS if key]
TEXTS = [
    "",
    "plain",
    "it's",
    'say "x"',
    "back\\slash",
    "a\nb\tc\x01\x1f",
    "naïve “é” 😀",
    "' || '",
    '"label":"x"',
    "$2",
]
values = st.one_of(
    st.sampled_from(TEXTS),
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.just({"label": "nested", "n": [1.5, {}]}),
    st.just([]),
)
rows = st.lists(st.dictionaries(st.sampled_from(STORED), values, max_size=5), min_size=1, max_size=4)
EXPRESSIONS: list[Expression] = [
    FirstProperty("properties_text", ("label", "name", "title"), "id"),
    FirstProperty("properties_text", ("$1", "it's"), "id"),
    Instant("created"),
    ByPrefix("id", (("user:", '"USER"'), ("project:", '"it\'s"')), '"$1 {}"'),
    Joined((Text("it's \\ $1 \"{"), Column("id"), Text(":"), Column("id"))),
    *(JsonKey("properties_text", key) for key in KEYS),
    *(JsonKey("properties_text", "name", type) for type in ("string", "number", "integer", "boolean")),
    JsonKey("properties_text", "nul\x00"),
]
IDS = ["plain", "user:x", "project:y", "scratch:z"]


def rendering_of(pieces: list[Expression]) -> Rendering:
    parts = [part for number, piece in enumerate(pieces) for part in (Text("," if number else "["), piece)]
    return Rendering(PageTemplate((Text("["), Items(RowTemplate(NODES, (*parts, Text("]")))), Text("]"))))


@settings(max_examples=10)
@given(rows=rows)
@example(rows=[{"label": text, "name": text} for text in TEXTS[:4]])
@example(rows=[{"label": 1, "name": True, "title": "t"}, {"name": 1.0}, {"name": 1e22}, {"name": 2**53}])
def test_expressions_are_rendered_alike(harness: Harness, rows: list[dict[str, Any]]) -> None:
    run(same_text(harness, rows))


async def same_text(harness: Harness, rows: list[dict[str, Any]]) -> None:
    store = await harness.fresh()
    system = await harness.system()
    try:
        graph = Graph(system)
        for id, properties in zip(IDS, rows, strict=False):
            await graph.add_node(id, None, properties)
        plan = Read(NODES, page=Page(limit=10))
        for pieces in (EXPRESSIONS, *([piece] for piece in EXPRESSIONS)):
            rendering = rendering_of(pieces)
            expected = rendering.write(await store.read(plan), plan, []).encode()
            assert await store.render(plan, rendering, []) == expected
    finally:
        await system.close()
