"""What a Neo4j user sees with plain Cypher, and what stands in for nodes that are not there."""

from __future__ import annotations

import pytest

from tests.backends.neo4j.kit import cypher, delete, edge, insert, node, rows, update, write
from ugs.changes import TableWrites
from ugs.graph.model import EDGES, NODES
from ugs_backends.neo4j.storage import Neo4jStorage

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLACEHOLDERS = "MATCH (n:UGSMissingNode) RETURN n.id ORDER BY n.id"
DRAWN = "MATCH (a)-[r]->(b) WHERE a:UGSNode OR a:UGSMissingNode RETURN a.id, type(r), b.id ORDER BY r.id"


async def test_a_node_wears_its_type_and_its_properties(storage: Neo4jStorage) -> None:
    await insert(storage, node("t1", "task", {"status": "pending", "points": 3, "tags": ["a", "b"], "type": "odd"}))

    ((labels, shown),) = await cypher(
        storage, "MATCH (t:task:UGSNode {status: 'pending'}) WHERE t.points > 2 RETURN labels(t), properties(t)"
    )

    assert sorted(labels) == sorted(["task", storage.names.label("nodes")])
    assert {key: shown[key] for key in ("id", "status", "points", "tags", "type")} == {
        "id": "t1", "status": "pending", "points": 3, "tags": ["a", "b"], "type": "odd",
    }  # fmt: skip
    assert shown["_type"] == "task" and shown["_version"] == 1


async def test_an_edge_is_a_relationship_of_its_type(storage: Neo4jStorage) -> None:
    await insert(storage, node("a"), node("b"), edge("e", "a", "b", "depends on", {"since": 2024}, weight=2.5))

    ((type, shown),) = await cypher(
        storage, "MATCH (:UGSNode {id: 'a'})-[r:`depends on`]->(:task {id: 'b'}) RETURN type(r), properties(r)"
    )

    assert type == "depends on"
    assert (shown["id"], shown["since"], shown["weight"]) == ("e", 2024, 2.5)


async def test_a_users_own_weight_is_shown_before_ours(storage: Neo4jStorage) -> None:
    await insert(storage, edge("e", "a", "b", "x", {"weight": "heavy"}, weight=2))

    assert await cypher(storage, "MATCH (:UGSMissingNode)-[r:x]->() RETURN r.weight, r._weight") == [["heavy", 2.0]]


@pytest.mark.parametrize(
    ("type", "marks"),
    [(None, [None, True]), ("ba`ck", ["ba`ck", None]), ("\\u0060", ["\\u0060", None]), ("UGSNode", ["UGSNode", None])],
)
async def test_a_type_that_cannot_be_quoted_is_only_written_down(
    storage: Neo4jStorage, type: str | None, marks: list[object]
) -> None:
    await insert(storage, node("a", type), edge("e", "a", "a", type))

    assert await cypher(storage, "MATCH (n:UGSNode) RETURN size(labels(n)), n._type") == [[1, type]]
    assert await cypher(storage, "MATCH (:UGSNode)-[r:RELATED]->() RETURN r._type, r._untyped") == [marks]


async def test_another_type_is_another_label(storage: Neo4jStorage) -> None:
    before, after = node("a", "task"), node("a", "done")
    await insert(storage, before)
    await cypher(storage, "MATCH (n:UGSNode) SET n:Favourite")

    await update(storage, NODES, before, after)

    ((labels,),) = await cypher(storage, "MATCH (n:UGSNode) RETURN labels(n)")
    assert set(labels) == {"done", "Favourite", storage.names.label("nodes")}


async def test_a_missing_endpoint_is_a_placeholder_until_its_node_comes(storage: Neo4jStorage) -> None:
    await insert(storage, node("a"), edge("e", "a", "b"))
    assert await cypher(storage, PLACEHOLDERS) == [["b"]]
    assert [row.id for row in await rows(storage)] == ["a"]

    await insert(storage, node("b", "person", {"name": "Bob"}))

    assert await cypher(storage, PLACEHOLDERS) == []
    assert await cypher(storage, "MATCH (:task)-[:blocks]->(p:person:UGSNode) RETURN p.id, p.name") == [["b", "Bob"]]


async def test_a_placeholder_goes_with_its_last_edge(storage: Neo4jStorage) -> None:
    first, second = edge("e1", "a", "b"), edge("e2", "c", "b")
    await insert(storage, first, second)

    await delete(storage, first)
    assert await cypher(storage, PLACEHOLDERS) == [["b"], ["c"]]
    await delete(storage, second)
    assert await cypher(storage, PLACEHOLDERS) == []


async def test_a_node_that_edges_still_mention_becomes_a_placeholder(storage: Neo4jStorage) -> None:
    a, e = node("a", "task", {"x": 1}), edge("e", "a", "b")
    await insert(storage, a, node("b"), e)

    await delete(storage, a)

    assert await cypher(storage, "MATCH (n:UGSMissingNode) RETURN labels(n), properties(n)") == [
        [[storage.names.label("missing_nodes")], {"id": "a"}]
    ]
    assert await cypher(storage, DRAWN) == [["a", "blocks", "b"]]
    assert [row.id for row in await rows(storage)] == ["b"] and await rows(storage, EDGES) == [e]


async def test_a_node_leaves_together_with_its_edges(storage: Neo4jStorage) -> None:
    a, e = node("a"), edge("e", "a", "a")
    await insert(storage, a, e)

    await delete(storage, a, e)

    assert await cypher(storage, DRAWN) == [] and await cypher(storage, PLACEHOLDERS) == []


async def test_a_node_and_its_edge_can_be_replaced_in_one_write(storage: Neo4jStorage) -> None:
    a, e = node("a"), edge("e", "a", "b")
    await insert(storage, a, e)

    await write(
        storage,
        {
            NODES: TableWrites(deletes=["a"], inserts=[node("b")], before={"a": a}),
            EDGES: TableWrites(deletes=["e"], inserts=[edge("f", "b", "a")], before={"e": e}),
        },
    )

    assert await cypher(storage, DRAWN) == [["b", "blocks", "a"]]
    assert await cypher(storage, PLACEHOLDERS) == [["a"]]


@pytest.mark.parametrize(
    "changed", [edge("e", "a", "b", "likes"), edge("e", "a", "c"), edge("e", "c", "b"), edge("e", "b", "a")]
)
async def test_a_moved_edge_is_drawn_anew(storage: Neo4jStorage, changed: object) -> None:
    before = edge("e", "a", "b")
    await insert(storage, node("a"), before)

    await update(storage, EDGES, before, changed)

    assert await rows(storage, EDGES) == [changed]
    assert await cypher(storage, DRAWN) == [[changed.source, changed.type, changed.target]]  # type: ignore[attr-defined]
    mentioned = {changed.source, changed.target} - {"a"}  # type: ignore[attr-defined]
    assert {id for (id,) in await cypher(storage, PLACEHOLDERS)} == mentioned


async def test_a_changed_edge_keeps_its_relationship(storage: Neo4jStorage) -> None:
    before, after = edge("e", "a", "b", "x", {"old": 1}), edge("e", "a", "b", "x", {"new": 2}, version=2)
    await insert(storage, before)
    ((first,),) = await cypher(storage, "MATCH (:UGSMissingNode)-[r]->() RETURN elementId(r)")

    await update(storage, EDGES, before, after)

    ((second, shown),) = await cypher(storage, "MATCH (:UGSMissingNode)-[r]->() RETURN elementId(r), properties(r)")
    assert first == second
    assert shown["new"] == 2 and "old" not in shown


async def test_wiping_leaves_the_users_other_data_alone(storage: Neo4jStorage) -> None:
    await cypher(storage, "MERGE (:ForeignThing {id: 'keep'})")
    await insert(storage, node("a"), edge("e", "a", "b"))

    await storage.wipe()

    assert await cypher(storage, "MATCH (n:ForeignThing) DELETE n RETURN count(n)") == [[1]]
    assert await rows(storage) == [] and await cypher(storage, DRAWN) == []


async def test_a_users_own_relationship_does_not_keep_a_deleted_node(storage: Neo4jStorage) -> None:
    a = node("a")
    await insert(storage, a, node("b"))
    await cypher(storage, "MATCH (a:UGSNode {id: 'a'}), (b:UGSNode {id: 'b'}) CREATE (a)-[:MINE]->(b)")

    await delete(storage, a)

    assert await cypher(storage, PLACEHOLDERS) == []
    assert await cypher(storage, "MATCH (n:UGSNode) RETURN n.id") == [["b"]]
