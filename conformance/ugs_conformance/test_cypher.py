"""openCypher reads: the same answers on every store, whatever it does natively."""

from __future__ import annotations

from typing import Any

import pytest

from ugs import cypher
from ugs.cypher import CypherError, CypherRefused, Limits
from ugs.cypher import api as cypher_api
from ugs.cypher.values.codec import decode
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.api import Facts
from ugs.graph.api import Graph
from ugs.log.at import At
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

PEOPLE: dict[str, dict[str, Any]] = {
    "alice": {"name": "Alice", "age": 34, "tags": ["x", "y"], "score": 1.5},
    "bob": {"name": "Bob", "age": 28, "_labels": ["Admin", "Driver"]},
    "carol": {"name": "Carol", "age": 41, "born": {"@date": "1984-02-29"}, "active": True},
    "dave": {"name": "Dave", "age": None, "active": False, "home": {"@point": {"x": 1, "y": 2}}},
}
PLACE = decode({"@point": {"x": 4, "y": 6}})
EDGES = [
    ("e1", "alice", "bob", "KNOWS", {"since": 2019}),
    ("e2", "bob", "carol", "KNOWS", {"since": 2021}),
    ("e3", "carol", "alice", "KNOWS", {"since": 2020}),
    ("e4", "alice", "task", "OWNS", {}),
    ("e5", "dave", "dave", "KNOWS", {"since": 2000}),
    ("e6", "dave", "task", None, {}),
    ("e7", "alice", "nobody", "KNOWS", {"since": 1999}),
]


@pytest.fixture
def people(graph: Graph) -> Graph:
    run(add_people(graph))
    return graph


async def add_people(graph: Graph) -> None:
    """Four people, a task, a node without a label, and edges of which one leads nowhere."""
    for id, properties in PEOPLE.items():
        await graph.add_node(id, "Person", properties)
    await graph.add_node("task", "Task", {"name": "Ship it"})
    await graph.add_node("loose")
    for id, source, target, type, properties in EDGES:
        await graph.add_edge(id, source, target, type, properties=properties)


async def rows(graph: Graph, query: str, **params: Any) -> list[tuple[Any, ...]]:
    async with graph.system.session() as session:
        return (await cypher.run(session, query, params)).rows


ANSWERS: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("MATCH (n) RETURN count(n) AS n", [(6,)]),
    ("MATCH (p:Person) RETURN p.name AS n ORDER BY n", [("Alice",), ("Bob",), ("Carol",), ("Dave",)]),
    ("MATCH (p:Admin) RETURN id(p) AS id, labels(p) AS l", [("bob", ["Person", "Admin", "Driver"])]),
    ("MATCH (p:Person:Driver {name: 'Bob'}) RETURN keys(p) AS k", [(["age", "name"],)]),
    ("MATCH (p {age: 34.0}) RETURN id(p) AS id", [("alice",)]),
    ("MATCH (p) WHERE p.age > 30 AND p.age <= 41 RETURN id(p) AS id ORDER BY id", [("alice",), ("carol",)]),
    (
        "MATCH (p) WHERE p.name STARTS WITH 'C' OR p.name ENDS WITH 'b' RETURN id(p) AS i ORDER BY i",
        [("bob",), ("carol",)],
    ),
    ("MATCH (p) WHERE p.name =~ '(?i).*A.*' RETURN count(*) AS n", [(3,)]),
    ("MATCH (p:Person) WHERE p.age IS NULL RETURN id(p) AS id", [("dave",)]),
    ("MATCH (p:Person) WHERE p.active RETURN id(p) AS id", [("carol",)]),
    ("MATCH (p:Person) WHERE p.tags = ['x', 'y'] RETURN id(p) AS id", [("alice",)]),
    (
        "MATCH (p:Person) WHERE id(p) IN ['bob', 'nobody', 'alice'] RETURN id(p) AS id ORDER BY id",
        [("alice",), ("bob",)],
    ),
    ("MATCH (p) WHERE p.born < date('1990-01-01') RETURN p.born.day AS d, toString(p.born) AS t", [(29, "1984-02-29")]),
    ("MATCH (a {name: 'Alice'})-[r:KNOWS]->(b) RETURN b.name AS n, r.since AS s", [("Bob", 2019)]),
    ("MATCH (a)<-[:KNOWS]-(b) WHERE id(a) = 'alice' RETURN id(b) AS id", [("carol",)]),
    ("MATCH (a)-[r]-(b:Task) RETURN id(a) AS a, type(r) AS t ORDER BY a", [("alice", "OWNS"), ("dave", "RELATED")]),
    ("MATCH (:Person)-[r:RELATED]->() RETURN id(r) AS id", [("e6",)]),
    ("MATCH (d {name: 'Dave'})-[r:KNOWS]-(x) RETURN id(x) AS x", [("dave",)]),
    ("MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) WHERE id(a) = 'alice' RETURN id(c) AS c", [("carol",)]),
    ("MATCH (a)-[:KNOWS*]->(b) WHERE id(a) = 'alice' RETURN id(b) AS b ORDER BY b", [("alice",), ("bob",), ("carol",)]),
    (
        "MATCH (a)-[rs:KNOWS*2..3]->(b) WHERE id(a) = 'bob' RETURN [r IN rs | id(r)] AS p ORDER BY size(p)",
        [(["e2", "e3"],), (["e2", "e3", "e1"],)],
    ),
    (
        "MATCH p = shortestPath((a)-[*]-(b)) WHERE id(a) = 'bob' AND id(b) = 'dave' RETURN [n IN nodes(p) | id(n)]",
        [(["bob", "alice", "task", "dave"],)],
    ),
    (
        "MATCH p = allShortestPaths((a)-[:KNOWS*]-(b)) WHERE id(a) = 'alice' AND id(b) = 'bob' RETURN length(p) AS n",
        [(1,)],
    ),
    (
        "MATCH (p:Person) OPTIONAL MATCH (p)-[:OWNS]->(t) RETURN id(p) AS p, t.name AS t ORDER BY p",
        [("alice", "Ship it"), ("bob", None), ("carol", None), ("dave", None)],
    ),
    ("MATCH (p:Person) WHERE NOT (p)-[:KNOWS]->(:Person) RETURN id(p) AS p", []),
    ("MATCH (p:Person) WHERE EXISTS { (p)-->(t:Task) } RETURN id(p) AS p ORDER BY p", [("alice",), ("dave",)]),
    (
        "MATCH (p:Person) RETURN id(p) AS p, COUNT { (p)-[:KNOWS]->() } AS n ORDER BY p",
        [("alice", 1), ("bob", 1), ("carol", 1), ("dave", 1)],
    ),
    ("MATCH (p:Person {name: 'Alice'}) RETURN [(p)-[r]->(x) | id(x)] AS xs", [(["bob", "task"],)]),
    (
        "MATCH (p:Person) RETURN sum(p.age) AS s, avg(p.age) AS a, collect(p.name)[0..2] AS c",
        [(103, 103 / 3, ["Alice", "Bob"])],
    ),
    (
        "MATCH (a)-[r]->() RETURN type(r) AS t, count(*) AS n ORDER BY n DESC, t",
        [("KNOWS", 4), ("OWNS", 1), ("RELATED", 1)],
    ),
    ("MATCH (p:Person) WITH p ORDER BY p.name SKIP 1 LIMIT 2 RETURN collect(id(p)) AS ids", [(["bob", "carol"],)]),
    ("UNWIND $ids AS id MATCH (p) WHERE id(p) = id RETURN p.name AS n", [("Bob",), ("Carol",)]),
    ("UNWIND ['Bob', 'Carol'] AS name MATCH (p:Person {name: name}) RETURN id(p) AS p", [("bob",), ("carol",)]),
    ("MATCH (n:Task) RETURN id(n) AS x UNION MATCH (n:Task) RETURN id(n) AS x", [("task",)]),
    (
        "MATCH (p:Person {name: 'Bob'}) RETURN p {.name, friends: [(p)-[:KNOWS]->(f) | f.name]} AS m",
        [({"name": "Bob", "friends": ["Carol"]},)],
    ),
    ("MATCH (p) WHERE p.home = point({x: 1, y: 2}) RETURN id(p) AS id, p.home.y AS y", [("dave", 2.0)]),
    (
        "MATCH (p:Person) WHERE point.distance(p.home, $place) <= 5 RETURN id(p) AS id, toString(p.home) AS home",
        [("dave", "point({x: 1.0, y: 2.0, crs: 'cartesian'})")],
    ),
    (
        "MATCH p = SHORTEST 2 (a)-[:KNOWS]-+(b) WHERE id(a) = 'alice' AND id(b) = 'carol' "
        "RETURN [r IN relationships(p) | id(r)] AS ids ORDER BY size(ids)",
        [(["e3"],), (["e1", "e2"],)],
    ),
    (
        "MATCH ALL SHORTEST (a:Person)-[:KNOWS]->+(a) RETURN id(a) AS a ORDER BY a",
        [("alice",), ("bob",), ("carol",), ("dave",)],
    ),
    ("MATCH (loose) WHERE labels(loose) = [] RETURN id(loose) AS x", [("loose",)]),
]


@clause("PROG-5", "PROG-40")
async def test_a_query_has_the_same_answer_on_every_store(people: Graph) -> None:
    for query, expected in ANSWERS:
        assert await rows(people, query, ids=["bob", "carol"], place=PLACE) == expected, query


@clause("PROG-5", "PROG-24", "PROG-26", "PROG-27", "PROG-92")
async def test_reading_changes_nothing_and_writing_is_refused(people: Graph, world: StoreUnderTest) -> None:
    for text in ("MATCH (n) DETACH DELETE n", "CREATE (n)", "MATCH (n) SET n.x = 1", "CALL dbms.components()"):
        async with world.refuses(CypherRefused):
            await rows(people, text)


VIEWED: list[tuple[str, str, list[tuple[Any, ...]]]] = [
    (
        "FACTS",
        "MATCH (e) RETURN e.name AS n, labels(e) AS l ORDER BY n",
        [("Acme", ["Entity"]), ("Ann", ["person", "Entity"])],
    ),
    ("FACTS", "MATCH (:person {name: 'Ann'})-[r]->(b) RETURN type(r) AS t, b.name AS n", [("works at", "Acme")]),
    (
        "FACTS",
        "MATCH (b)<-[r:`works at`]-(a) RETURN r.valid_from.year AS y, r.valid_to IS NULL AS open",
        [(2020, True)],
    ),
    (
        "FACTS",
        "MATCH (a:Entity) WHERE a.name STARTS WITH 'An' RETURN a.says AS s, a.node_id AS n",
        [({"likes": ["tea"]}, "alice")],
    ),
    ("ALL", "MATCH (n) RETURN count(n) AS n", [(8,)]),
    ("ALL", "MATCH (e:Entity) MATCH (n) WHERE id(n) = e.node_id RETURN n.age AS a", [(34,)]),
    ("ALL", "MATCH (e)-[:`works at`]->(x) MATCH (y) WHERE id(y) = id(x) RETURN y.name AS n", [("Acme",)]),
]


@clause("PROG-5", "FACT-78")
async def test_facts_that_hold_are_a_graph_too(people: Graph) -> None:
    # given
    facts = Facts(people.system)
    ann = await facts.upsert_entity("Ann", "person", node_id="alice")
    note = (await facts.add_note("said so")).note_id
    for predicate, object, since, until in (
        ("works at", "Acme", "2020-05-01T00:00:00Z", None),
        ("owns", "Acme", "2019-01-01T00:00:00Z", "2019-06-01T00:00:00Z"),
        ("works at", "Ann", "2999-01-01T00:00:00Z", None),
    ):
        await facts.add_fact(ann, predicate, object=object, notes=[note], valid_from=since, valid_to=until)
    await facts.add_fact(ann, "likes", "tea", notes=[note])

    # then
    for view, query, expected in VIEWED:
        assert (await cypher_api.ask(people.system, query, view=view)).rows == expected, query
    for view, query in (("GRAPH", "MATCH (n:Entity) RETURN n"), ("FACTS", "MATCH (n:Person) RETURN n")):
        assert (await cypher_api.ask(people.system, query, view=view)).rows == []
    with pytest.raises(InvalidSyntax):
        await cypher_api.ask(people.system, "RETURN 1", view="NOTES")


@clause("PROG-5", "UGS-77")
async def test_a_query_can_go_back_in_time(people: Graph) -> None:
    async with people.system.session() as session:
        then = At(position=(await session.head()).position)
    await people.update("alice", {"age": 35})

    old, new = [
        (await cypher_api.ask(people.system, "MATCH (a {name: 'Alice'}) RETURN a.age", at=at)).rows
        for at in (then, None)
    ]

    assert (old, new) == ([(34,)], [(35,)])


@clause("PROG-24")
async def test_an_error_names_its_place(people: Graph) -> None:
    with pytest.raises(CypherError) as failed:
        await rows(people, "MATCH (person)\nRETURN persom")

    assert failed.value.detail == "UndefinedVariable"
    assert (failed.value.details["line"], failed.value.details["column"]) == (2, 8)
    assert "person?" in failed.value.message


@clause("PROG-24")
@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) WHERE n.name = $who RETURN n",
        "MATCH (n:Nobody)-[:NEVER]->(m {name: $who}) RETURN m",
        "MATCH (a)-[:KNOWS]->(b) MATCH (b)-[:NEVER]->(c) WHERE c.name = $who RETURN c",
        "OPTIONAL MATCH (n:Nobody) WHERE EXISTS { MATCH (n)-->(m) WHERE m.name = $who } RETURN n",
        "UNWIND [] AS none RETURN $who",
    ],
)
async def test_a_parameter_that_was_not_given_is_told_whatever_the_data(people: Graph, query: str) -> None:
    at_once, in_turn = cypher_api.ask(people.system, query), rows(people, query)
    for asking in (at_once, in_turn):
        with pytest.raises(CypherError) as failed:
            await asking
        assert (failed.value.code, failed.value.detail) == ("CYPHER_PARAMETER", "MissingParameter")
        assert failed.value.details["offset"] == query.index("$who")

    assert (await cypher_api.ask(people.system, "EXPLAIN " + query)).rows == []


@clause("UGS-214")
async def test_a_hop_costs_the_same_number_of_fetches_however_many_nodes_it_starts_from(people: Graph) -> None:
    async with people.system.session() as session:
        result = await cypher.run(session, "MATCH (a:Person)-[:KNOWS]->(b)-[:KNOWS]->(c) RETURN count(*) AS n")

    assert result.rows == [(3,)]
    assert result.fetches <= 6


@clause("PROG-23")
async def test_an_answer_has_as_many_rows_as_allowed(people: Graph) -> None:
    cut = await cypher_api.ask(people.system, "MATCH (n)-[r]->(m) RETURN n", limit=3)
    whole = await cypher_api.ask(people.system, "MATCH (n)-[r]->(m) RETURN n", limit=6)

    assert (len(cut.rows), cut.truncated) == (3, True)
    assert (len(whole.rows), whole.truncated) == (6, False)
    with pytest.raises(LimitExceeded):
        await cypher_api.ask(people.system, "MATCH (n) RETURN n", limits=Limits(rows=3))


LABELLED = [
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN id(b) AS b ORDER BY b",
    "MATCH (a:Person)-[:KNOWS]->(b:Robot) RETURN id(b) AS b",
    "MATCH (a:Robot)<-[:KNOWS]-(b) RETURN labels(b) AS l, count(*) AS n",
]


async def query_rows(graph: Graph, query: str) -> list[tuple[Any, ...]]:
    """The answer without a session of one's own, as every door asks."""
    return (await cypher_api.ask(graph.system, query)).rows


@clause("PROG-40")
async def test_labels_that_come_later_are_seen_by_queries_that_knew_of_none(graph: Graph) -> None:
    for id, type in (("ann", "Person"), ("ben", "Person"), ("cat", "Thing")):
        await graph.add_node(id, type)
    await graph.add_edge(None, "ann", "ben", "KNOWS")
    await graph.add_edge(None, "ann", "cat", "KNOWS")
    assert [await query_rows(graph, query) for query in LABELLED] == [[(1,)], [("ben",)], [], []]

    await graph.update("cat", {"_labels": ["Person", "Robot"]})

    after = [[(2,)], [("ben",), ("cat",)], [("cat",)], [(["Person"], 1)]]
    for _ in range(3):  # the first to ask notices, the others are told
        assert [await query_rows(graph, query) for query in LABELLED] == after
