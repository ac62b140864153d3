"""Look-ups by type, property, word and adjacency, never out of step with the state (seed 000, section 9).

An index is proven by what it answers. Natively each store uses indexes of its own; with native paths off the same
answers come from plain scans, so a stale entry anywhere shows as a difference.
"""

from __future__ import annotations

import pytest

from ugs.graph.api import Graph
from ugs.graph.model import NODES
from ugs.identity import Scope
from ugs.reads.filters import Has
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, ids

AWKWARD = ["a.b", "a b", "a'b", 'a"b', "a\\b", "a%b", "a_b", "$a", "a`b", "ключ", "🔑", "a[0]", "a:b", "--", "{}", "\n"]


async def answers(graph: Graph, id: str) -> dict[str, bool]:
    """Which look-ups find the node `id` made as in `test_indices_follow_a_node_through_its_life`."""
    return {
        "old type": id in ids(await graph.list_nodes("old")),
        "new type": id in ids(await graph.list_nodes("new")),
        "old property": id in ids(await graph.find_by_property("p", "apple pie")),
        "new property": id in ids(await graph.find_by_property("p", "pear cake")),
        "old word": id in ids(await graph.search("apple")),
        "new word": id in ids(await graph.search("pear")),
        "old data": id in ids(await graph.search("walnut")),
        "new data": id in ids(await graph.search("hazel")),
    }


@clause("UGS-134", "UGS-135", "UGS-136", "UGS-139", "UGS-140", "UGS-141", "UGS-215", "UGS-78", "UGS-79", "UGS-80")
async def test_indices_follow_a_node_through_its_life(graph: Graph) -> None:
    await graph.add_node("other", "old", {"p": "apple pie"}, data=["walnut"])
    await graph.add_node("n", "old", {"p": "apple pie"}, data={"nut": "walnut"})
    added = await answers(graph, "n")
    await graph.update("n", {"p": "pear cake"}, type="new", data={"nut": "hazel"})
    updated = await answers(graph, "n")
    await graph.delete("n")
    deleted = await answers(graph, "n")

    assert [name for name, found in added.items() if found] == ["old type", "old property", "old word", "old data"]
    assert [name for name, found in updated.items() if found] == ["new type", "new property", "new word", "new data"]
    assert not any(deleted.values())
    assert [name for name, found in (await answers(graph, "other")).items() if found] == list(added)[::2]


@clause("UGS-134", "UGS-211", "UGS-100")
async def test_the_type_index_tells_case_and_nothing_apart(graph: Graph) -> None:
    await graph.add_node("a", "Task")
    await graph.add_node("b", "task")
    await graph.add_node("c")
    await graph.add_node("d", "task ")

    assert ids(await graph.list_nodes("task")) == ["b"]
    assert ids(await graph.list_nodes("Task")) == ["a"]
    assert ids(await graph.list_nodes("none")) == []
    assert ids(await graph.list_nodes()) == ["a", "b", "c", "d"]


@clause("UGS-135", "UGS-212", "UGS-218", "UGS-101")
async def test_property_values_match_by_kind_and_numbers_by_value(graph: Graph) -> None:
    values = {"int": 1, "float": 1.0, "text": "1", "true": True, "nothing": None, "list": [1], "map": {"a": 1}}
    for id, value in values.items():
        await graph.add_node(id, properties={"v": value})
    await graph.add_node("without")

    found = {id: ids(await graph.find_by_property("v", value)) for id, value in values.items()}

    assert found.pop("int") == found.pop("float") == ["float", "int"]
    assert found == {id: [id] for id in found}
    assert await graph.find_by_property("v", 2) == []
    assert await graph.find_by_property("unknown", 1) == []


@pytest.mark.parametrize(
    ("stored", "asked", "same"),
    [
        (2**53 + 1, 2**53 + 1, True),
        (2**53 + 1, 2**53, False),
        (2**63 - 1, 2**63 - 1, True),
        (-(2**63), -(2**63), True),
        (0.1, 0.1, True),
        (0.1, 0.10000000000000002, False),
        (1e300, 1e300, True),
        (-0.0, 0, True),
        (100, 1e2, True),
        ([1, 2.0], [1.0, 2], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, {"a": True}, False),
        ("é", "e\u0301", False),
        ("Straße", "strasse", False),
        ("x" * 5000, "x" * 5000, True),
        ("x" * 5000, "x" * 4999 + "y", False),
        ("", "", True),
        ("null", None, False),
        ("@(n)", "@(n)", True),
    ],
)
@clause("UGS-135", "UGS-218", "UGS-101")
async def test_equality_of_property_values(graph: Graph, stored: object, asked: object, same: bool) -> None:
    await graph.add_node("n", properties={"v": stored})

    assert ids(await graph.find_by_property("v", asked)) == (["n"] if same else [])


@clause("UGS-135", "UGS-108")
async def test_a_property_key_is_data_whatever_it_looks_like(graph: Graph) -> None:
    for number, key in enumerate(AWKWARD):
        await graph.add_node(f"n{number:02}", properties={key: "here", f"{key}x": number})

    for number, key in enumerate(AWKWARD):
        assert ids(await graph.find_by_property(key, "here")) == [f"n{number:02}"], key
    assert await graph.property_keys() == sorted([*AWKWARD, *(f"{key}x" for key in AWKWARD)])


@clause("UGS-143", "UGS-144", "UGS-145", "UGS-146", "UGS-136", "UGS-139", "UGS-213")
async def test_words_come_from_id_type_string_properties_and_data(graph: Graph) -> None:
    await graph.add_node(
        "Task_One",
        "BigJob",
        {"title": "Implement LOGIN", "tags": ["Urgent", {"deep": "Down"}], "count": 12345, "done": True},
        data={"notes": ["Remember Milk", 678, False], "key_only": None},
    )
    found = {word: ids(await graph.search(word)) == ["Task_One"] for word in WORDS}

    assert found == WORDS


WORDS = {
    "task_one": True,
    "TASK_ONE": True,
    "task": True,
    "bigjob": True,
    "implement": True,
    "login": True,
    "urgent": True,
    "down": True,
    "milk": True,
    "678": True,
    "false": True,
    "12345": False,
    "true": False,
    "title": False,
    "key_only": False,
    "notes": False,
    "logi": False,
    "mplement": False,
}


@clause("UGS-137", "UGS-138", "UGS-142", "UGS-214", "UGS-82", "UGS-81")
async def test_adjacency_follows_edges_as_they_come_and_go(graph: Graph) -> None:
    for id in "abc":
        await graph.add_node(id)
    await graph.add_edge("e1", "a", "b")
    await graph.add_edge("e2", "a", "c")
    await graph.add_edge("e3", "c", "a")

    assert await graph.degree("a") == (1, 2)
    assert ids(await graph.neighbors("a", "outgoing")) == ["b", "c"]
    await graph.delete("e1")
    assert await graph.degree("a") == (1, 1)
    assert ids(await graph.neighbors("a", "outgoing")) == ["c"]
    assert await graph.neighbors("b") == []
    await graph.delete("c")
    assert await graph.degree("a") == (0, 0)
    assert await graph.degree("missing") == (0, 0)


@clause("UGS-78", "UGS-137", "UGS-138")
async def test_a_new_node_starts_without_adjacency_also_after_another_life(graph: Graph) -> None:
    await graph.add_node("a")
    assert await graph.degree("a") == (0, 0)
    await graph.add_edge("e", "a", "a")
    await graph.delete("a")

    await graph.add_node("a")

    assert (await graph.degree("a"), await graph.neighbors("a")) == ((0, 0), [])


@clause("UGS-136", "UGS-141", "UGS-215")
async def test_words_are_counted_exactly(world: StoreUnderTest) -> None:
    await world.graph.add_node("a", "t", {"x": "red red red"})
    await world.graph.add_node("b", "t", {"x": "red", "y": "Red-ish"})
    await world.graph.add_node("c", "red")
    await world.graph.delete("a")

    async with world.system.session() as session:
        counts = [await session.count(NODES, Has(word)) for word in ("red", "red-ish", "ish", "t", "blue")]

    assert counts == [2, 1, 1, 1, 0]


@clause("UGS-215", "UGS-134", "UGS-135", "UGS-136")
async def test_a_cleared_scope_leaves_no_entry_behind(graph: Graph) -> None:
    await graph.add_node("scratch:a", "t", {"p": "v w"})
    await graph.add_edge("scratch:e", "scratch:a", "b", properties={"r": "@(b)"})

    await graph.clear_scope(Scope.SCRATCH)

    assert await graph.list_nodes("t") == []
    assert await graph.find_by_property("p", "v w") == []
    assert await graph.search("w") == []
    assert await graph.property_keys() == []
    assert await graph.referenced_by("b") == []
    assert (await graph.stats()).as_json() == {"nodes": 0, "edges": 0, "types": 0, "properties": 0}
