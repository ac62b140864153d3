"""Whatever is printed parses to the same tree: on all queries of the TCK, and on random expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ugs.cypher import tck
from ugs.cypher import syntax as s
from ugs.cypher.errors import CypherError
from ugs.cypher.parser import parse
from ugs.cypher.unparser import print_expression, print_query

names = st.sampled_from(["a", "n", "Long_name9", "é", "with space", "match", "exists"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(0, 2**63 - 1), st.floats(0, 1e300), st.text("ab'\"\\\n\tµ€🚀", max_size=6)
)
leaves = st.one_of(scalars.map(s.Literal), names.map(s.Variable), st.sampled_from(["p", "1", "W_IDS"]).map(s.Parameter))


def expressions_over(inner: st.SearchStrategy[s.Expression]) -> st.SearchStrategy[s.Expression]:
    some = st.lists(inner, max_size=3).map(tuple)
    keyed = st.lists(st.tuples(names, inner), max_size=2).map(tuple)
    return st.one_of(
        st.builds(
            s.Binary, st.sampled_from(["+", "-", "*", "/", "%", "^", "IN", "STARTS WITH", "=~", "XOR"]), inner, inner
        ),
        st.builds(s.Unary, st.sampled_from(["NOT", "-", "+"]), inner),
        st.builds(lambda a, b, c: s.Comparison((a, b, c), ("<", ">=")), inner, inner, inner),
        st.builds(s.IsNull, inner, st.booleans()),
        st.builds(s.Property, inner, names),
        st.builds(s.Index, inner, inner),
        st.builds(s.Slice, inner, st.none() | inner, st.none() | inner),
        st.builds(s.ListLiteral, some),
        st.builds(s.MapLiteral, keyed),
        st.builds(lambda arguments: s.Call("coalesce", arguments, False, "coalesce"), some),
        st.builds(lambda when, then, other: s.Case(None, ((when, then),), other), inner, inner, st.none() | inner),
        st.builds(s.ListComprehension, names, inner, st.none() | inner, st.none() | inner),
        st.builds(s.Quantifier, st.sampled_from(["all", "any", "none", "single"]), names, inner, inner),
        st.builds(s.Reduce, names, inner, names, inner, inner),
    )


expressions = st.recursive(leaves, expressions_over, max_leaves=12)


@given(expressions)
@settings(max_examples=300, deadline=None)
def test_a_printed_expression_parses_to_itself(tree: s.Expression) -> None:
    clause = parse(f"RETURN {print_expression(tree)} AS it").query.parts[0].clauses[0]

    assert isinstance(clause, s.Return)
    assert clause.projection.items[0].value == tree


@pytest.mark.parametrize(
    "text",
    [
        "[(a IN null)]",
        "[(a IN b AND c), 2]",
        "[(`a b` IN c) = d]",
        "[null IN a]",
        "any((a IN b))",
        "reduce((a = b), 1)",
    ],
)
def test_what_looks_like_a_comprehension_stays_what_it_is(text: str) -> None:
    query = parse(f"RETURN {text} AS it").query
    assert parse(print_query(query)).query == query


@pytest.mark.skipif(not tck.DATA.exists(), reason="The TCK data is not here: set UGS_TCK_DATA")
def test_every_query_of_the_tck_survives_printing() -> None:
    for text in dict.fromkeys(record["query"] for record in tck.records()):
        try:
            query = parse(text).query
        except CypherError:
            continue
        assert parse(print_query(query)).query == query, text
