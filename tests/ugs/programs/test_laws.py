"""Laws that hold for all working graphs, and for all programs written as text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ugs.programs.generated import programs, results
from ugs.programs.ast import GraphProgram, Operator
from ugs.programs.execution.operators import AssertionFailed, apply, drop_dangling
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.text import parse_text, print_text

some = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def after(op: str, w: WorkingGraph, r: WorkingGraph) -> WorkingGraph:
    found = w.copy()
    apply(Operator(op), found, r)
    return found


def sound(w: WorkingGraph) -> WorkingGraph:
    """A graph that a program can have reached: built by union from nothing."""
    return after("+", WorkingGraph(), w)


@pytest.mark.clause("PROG-50", "PROG-52", "PROG-53", "PROG-58", "PROG-85")
@some
@given(results, st.lists(st.tuples(st.sampled_from("+-&?!"), results), max_size=5))
def test_no_link_ever_lacks_a_node_and_nothing_is_there_twice(
    start: WorkingGraph, steps: list[tuple[str, WorkingGraph]]
) -> None:
    w = sound(start)
    for op, r in steps:
        before = (len(w.nodes), len(w.links))
        try:
            affected = apply(Operator(op), w, r)
        except AssertionFailed:
            assert op == "!" and r.is_empty
            continue
        assert len(set(w.ids)) == len(w.nodes)
        assert len({link.key for link in w.links}) == len(w.links)
        assert drop_dangling(w) == 0
        sign = -1 if op in "-&" else 1
        assert (len(w.nodes) - before[0], len(w.links) - before[1]) == (sign * affected.nodes, sign * affected.links)


@pytest.mark.clause("PROG-7", "PROG-8", "PROG-9", "PROG-55", "PROG-64", "PROG-66")
@some
@given(results, results)
def test_the_operators_are_a_set_algebra(start: WorkingGraph, r: WorkingGraph) -> None:
    w = sound(start)
    united = after("+", w, r)
    assert after("+", united, r) == united
    assert united.nodes[: len(w.nodes)] == w.nodes and united.links[: len(w.links)] == w.links
    assert set(united.ids) == set(w.ids) | set(r.ids)
    assert set(after("-", w, r).ids) == set(w.ids) - set(r.ids)
    assert set(after("&", w, r).ids) == set(w.ids) & set(r.ids)
    assert after("&", after("-", w, r), r).is_empty
    assert after("&", w, w) == w == after("-", w, WorkingGraph())
    kept, rest = after("&", w, r), after("-", w, r)
    assert [node for node in w.nodes if node in kept.nodes or node in rest.nodes] == w.nodes
    assert [node for node in w.nodes if node.concept_id in set(kept.ids)] == kept.nodes
    assert after("?", w, r) == united
    assert after("-", after("+", w, r), r).nodes == after("-", w, r).nodes


@pytest.mark.clause("PROG-141", "PROG-142")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(programs)
def test_text_and_tree_mean_the_same(tree: GraphProgram) -> None:
    text = print_text(tree)
    found = parse_text(text)
    assert found.warnings == []
    assert found.program == tree.as_json()
    assert print_text(tree) == text
