"""Programs and working graphs made up by Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ugs.programs.ast import (
    AnyCondition,
    ApiOp,
    BlockAnnotation,
    BlockType,
    ConditionalOp,
    CountAtLeast,
    CountAtMost,
    CypherOp,
    Empty,
    GraphProgram,
    HasOntology,
    HasRelationship,
    HasResults,
    Operator,
    ParamDeclaration,
    ProgramMetadata,
    Statement,
)
from ugs.programs.execution.working_graph import RawLink, RawNode, WorkingGraph

ids: st.SearchStrategy[str] = st.sampled_from(["a", "b", "c", "d", "e"])
nodes = st.builds(RawNode, ids, st.text("xy", max_size=2), st.none() | st.sampled_from(["o", "p"]))
links = st.builds(RawLink, ids, ids, st.sampled_from(["T", "U"]))
results = st.builds(WorkingGraph, st.lists(nodes, max_size=6), st.lists(links, max_size=6))

lines = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=12)
words = st.lists(lines, min_size=1, max_size=3).map(" ".join)
strings = st.text(st.characters(blacklist_categories=("Cs", "Cc")) | st.sampled_from("\n;{}'\"-"), max_size=10)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(strings, json_values, max_size=3)


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


queries = st.builds(
    lambda text, path, order: f"MATCH (a {{x: {literal(text)}}}){path}(b) WHERE a.y <> $p RETURN a, b{order}",
    strings,
    st.sampled_from(["--", "-[r:T*1..3]->", "<-[]-", "-[:`odd; name`]-"]),
    st.sampled_from(["", " ORDER BY a.x DESC", " SKIP 3"]),
)
cypher_ops = st.builds(CypherOp, queries, st.none() | st.integers(1, 10**6))
api_ops = st.builds(ApiOp, st.sampled_from(["/search/concepts", "/concepts/batch"]), json_objects)
conditions: st.SearchStrategy[AnyCondition] = st.one_of(
    st.just(HasResults()),
    st.just(Empty()),
    st.builds(CountAtLeast, st.integers(1, 99)),
    st.builds(CountAtMost, st.integers(0, 99)),
    st.builds(HasOntology, strings.filter(bool)),
    st.builds(HasRelationship, strings.filter(bool)),
)
annotating = st.builds(BlockAnnotation, st.sampled_from(BlockType), json_objects)


def statements(operations: st.SearchStrategy[Any]) -> st.SearchStrategy[Statement]:
    return st.builds(Statement, st.sampled_from(Operator), operations, st.none() | words, st.none() | annotating)


simple = statements(cypher_ops | api_ops)
branching = statements(
    st.builds(
        ConditionalOp, conditions, st.lists(simple, min_size=1, max_size=2), st.none() | st.lists(simple, max_size=2)
    )
)
parameters = st.lists(
    st.builds(ParamDeclaration, st.just("p"), st.just("string"), st.none() | strings)
    | st.builds(
        ParamDeclaration, st.just("n"), st.just("number"), st.none() | st.integers(-(2**53), 2**53) | st.floats(-9, 9)
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda one: one.name,
)
metadata = st.builds(
    ProgramMetadata,
    words,
    st.none() | words,
    st.none() | st.sampled_from(["human", "agent", "system"]),
    st.none() | st.just("2026-02-05T12:00:00Z"),
)
programs = st.builds(
    GraphProgram, st.just(1), st.lists(simple | branching, min_size=1, max_size=3), metadata, parameters
)
