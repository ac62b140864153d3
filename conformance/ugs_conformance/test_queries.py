"""Search, lists, neighbours, traversals, paths, figures: exact answers in one order (seed 000, sections 6.3 to 7)."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import InvalidSyntax, NegativeCycle, NodeNotFound
from ugs.graph.api import Graph
from ugs.graph.model import NODES
from ugs.graph.text.search import Hit
from ugs.graph.traversal import Strategy
from ugs.identity import Scope
from ugs.reads.plan import Page
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture, ids, load

DERIVED = fixture("ugs_demo_derived")


async def add_edges(graph: Graph, *paths: str, nodes: str = "") -> None:
    """Edges from texts such as `a b 10` (source, target, weight), named by their place; nodes appear as needed."""
    edges = [{"id": f"w{n}", **_edge(text)} for n, text in enumerate(paths)]
    names = dict.fromkeys([*nodes.split(), *(edge[end] for edge in edges for end in ("from", "to"))])
    await graph.import_graph({"nodes": [{"id": name} for name in names], "edges": edges})


def _edge(text: str) -> dict[str, Any]:
    source, target, *weight = text.split()
    return {"from": source, "to": target, "weight": float(weight[0]) if weight else 1}


@pytest.mark.parametrize("query", DERIVED["search"])
@clause("UGS-99", "UGS-115", "UGS-216", "UGS-213")
async def test_search_on_the_demo(graph: Graph, query: str) -> None:
    await graph.load_demo()

    assert sorted(ids(await graph.search(query))) == DERIVED["search"][query]


@clause("UGS-115", "UGS-216")
async def test_every_word_must_match(graph: Graph) -> None:
    await graph.add_node("a", properties={"x": "red apple"})
    await graph.add_node("b", properties={"x": "red"}, data="apple")
    await graph.add_node("c", properties={"x": "red"})

    assert ids(await graph.search("RED apple")) == ["a", "b"]
    assert ids(await graph.search("apple red apple")) == ["a", "b"]
    assert await graph.search("red zzz") == []
    assert await graph.search("") == []
    assert await graph.search("  ?!  ") == []


@clause("UGS-115", "UGS-216")
async def test_hits_are_ranked_by_where_the_word_stands_and_ties_by_id(graph: Graph) -> None:
    await graph.add_node("data_", data="fox")
    await graph.add_node("prop_b", properties={"x": "fox"})
    await graph.add_node("prop_a", properties={"x": "fox"})
    await graph.add_node("type_", "fox")
    await graph.add_node("fox")

    hits = await graph.search("fox")

    assert ids(hits) == ["fox", "type_", "prop_a", "prop_b", "data_"]
    rarity = 0.6931471805599453  # ln(1 + 5/5)
    assert [hit.score for hit in hits] == pytest.approx([rarity * w for w in (4, 2, 1, 1, 0.5)], rel=1e-12)


@clause("UGS-115", "UGS-216")
async def test_rare_words_weigh_more(graph: Graph) -> None:
    for n in range(8):
        await graph.add_node(f"n{n}", properties={"x": "common rare" if n == 5 else "common"})
    await graph.add_node("z", properties={"x": "rare", "y": "common"}, data="common")

    assert ids(await graph.search("common rare")) == ["z", "n5"]
    assert ids(await graph.search("common", limit=3)) == ["z", "n0", "n1"]


@clause("UGS-115", "UGS-99", "UGS-143")
async def test_words_with_dashes_addresses_and_scoped_ids_are_found(graph: Graph) -> None:
    await graph.add_node("user:profile", "auth-service", {"mail": "alice@example.com", "city": "Zürich STRASSE"})
    await graph.add_node("plain", properties={"x": "auth service"})

    assert ids(await graph.search("auth-service")) == ["user:profile"]
    assert sorted(ids(await graph.search("auth service"))) == ["plain", "user:profile"]
    assert sorted(ids(await graph.search("service-auth"))) == ["plain", "user:profile"]
    assert ids(await graph.search("alice@example.com")) == ["user:profile"]
    assert ids(await graph.search("user:profile")) == ["user:profile"]
    assert ids(await graph.search("zürich straße")) == ["user:profile"]


@clause("UGS-115", "UGS-216", "UGS-230")
async def test_pages_of_hits_follow_each_other_however_many_weigh_the_same(graph: Graph) -> None:
    for number in range(40):
        words = " ".join(word for place, word in enumerate(("ant", "bee", "cat")) if number >> place & 1)
        scope = "user:" if number % 3 else ""
        await graph.add_node(f"{scope}n{number:02}", "ant" if number % 5 else "b", {"x": words}, words[:3] or None)
    narrowed: list[Any] = [{}, {"type": "ant"}, {"scope": Scope.USER}, {"type": "b", "scope": Scope.DEFAULT}]
    for query in ("ant", "bee cat", "cat ant bee", "ant-bee", "wasp"):
        for more in narrowed:
            everything = await graph.search(query, **more)
            assert len(everything) == await graph.count_found(query, **more)
            hits: list[Hit] = []
            while page := await graph.search(query, limit=4, after=_last_of(hits), **more):
                hits += page
            assert hits == everything, (query, more)


def _last_of(hits: list[Hit]) -> tuple[float, str] | None:
    return (hits[-1].score, hits[-1].node.id) if hits else None


@clause("UGS-115", "UGS-230")
async def test_search_can_be_narrowed_and_paged(graph: Graph) -> None:
    await load(graph, "ugs_demo")
    await graph.add_node("user:task", "task", {"title": "pending"})

    first = await graph.search("pending", limit=2)
    last = first[-1]
    rest = await graph.search("pending", after=(last.score, last.node.id))

    assert ids(first + rest) == ids(await graph.search("pending"))
    assert ids(first + rest) == ["task_2", "task_3", "user:task"]
    assert ids(await graph.search("pending", scope=Scope.USER)) == ["user:task"]
    assert ids(await graph.search("pending", type="person")) == []


@pytest.mark.parametrize("kind", DERIVED["list"])
@clause("UGS-100", "UGS-217", "UGS-211")
async def test_list_gives_all_nodes_of_a_type_by_id(graph: Graph, kind: str) -> None:
    await graph.load_demo()

    assert ids(await graph.list_nodes(kind)) == DERIVED["list"][kind]


@clause("UGS-100", "UGS-217")
async def test_lists_come_in_pages_forward_and_backward_in_code_point_order(graph: Graph) -> None:
    names = ["B", "a", "Z", "_x", "a-1", "a_1", "a1", "aa", "b", "user:a"]
    await graph.import_graph({"nodes": [{"id": id} for id in names], "edges": []})
    whole = ids(await graph.list_nodes())

    first = await graph.list_nodes(page=Page(limit=4))
    second = await graph.list_nodes(page=Page(limit=4, after=(first[-1].id,)))
    before = await graph.list_nodes(page=Page(limit=2, after=(second[0].id,), backward=True))
    last = await graph.list_nodes(page=Page(limit=3, backward=True))

    assert whole == sorted(names)
    assert (ids(first), ids(second), ids(before), ids(last)) == (whole[:4], whole[4:8], whole[2:4], whole[-3:])


@pytest.mark.parametrize("pair", DERIVED["find_by_property"])
@clause("UGS-101", "UGS-218", "UGS-212")
async def test_find_by_property_on_the_demo(graph: Graph, pair: str) -> None:
    await graph.load_demo()
    key, value = pair.split("=")

    assert ids(await graph.find_by_property(key, value)) == DERIVED["find_by_property"][pair]


@pytest.mark.parametrize("case", DERIVED["neighbors"])
@clause("UGS-102", "UGS-219", "UGS-232")
async def test_neighbors_on_the_demo(graph: Graph, case: str) -> None:
    await graph.load_demo()
    id, direction = case.split("/")

    assert sorted(ids(await graph.neighbors(id, direction))) == DERIVED["neighbors"][case]


@clause("UGS-102", "UGS-219", "UGS-214")
async def test_neighbors_come_once_each_in_the_order_of_their_edges(graph: Graph) -> None:
    await add_edges(graph, "m z", "a m", "m z", "m m", "m b", "ghost m", "z m")
    await graph.delete("ghost")
    await graph.add_edge("to_ghost", "m", "ghost", "haunts")

    assert ids(await graph.neighbors("m")) == ["z", "a", "m", "b"]
    assert ids(await graph.neighbors("m", "outgoing")) == ["z", "m", "b"]
    assert ids(await graph.neighbors("m", "incoming")) == ["a", "m", "z"]
    assert await graph.neighbors("m", types=["haunts"]) == []


@clause("UGS-102", "UGS-232", "UGS-236", "UGS-239")
async def test_neighbors_need_a_node_and_a_direction(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")

    async with world.refuses(NodeNotFound, id="b"):
        await world.graph.neighbors("b")
    async with world.refuses(InvalidSyntax):
        await world.graph.neighbors("a", "sideways")


@pytest.mark.parametrize("case", DERIVED["traverse"], ids=lambda case: f"{case['depth']}-{case['direction']}")
@clause("UGS-103", "UGS-116", "UGS-117", "UGS-220")
async def test_traverse_on_the_demo(graph: Graph, case: dict[str, Any]) -> None:
    await graph.load_demo()

    steps = await graph.traverse(case["start"], case["depth"], case["direction"])

    assert sorted(ids(steps)) == case["nodes_as_set"]
    assert ids(steps)[0] == case["start"]
    assert max(step.depth for step in steps) <= case["depth"]


@clause("UGS-116", "UGS-103")
async def test_traverse_visits_level_by_level_or_branch_by_branch(graph: Graph) -> None:
    await add_edges(graph, "r c", "r b", "c d", "b a", "d e", "a e", "e r")

    wide = await graph.traverse("r", 3)
    deep = await graph.traverse("r", 3, strategy=Strategy.DFS)

    assert [(step.node.id, step.depth) for step in wide] == [
        ("r", 0),
        ("c", 1),
        ("b", 1),
        ("d", 2),
        ("a", 2),
        ("e", 3),
    ]
    assert [step.via.id if step.via else None for step in wide] == [None, "w0", "w1", "w2", "w3", "w4"]
    assert ids(deep) == ["r", "c", "d", "e", "b", "a"]
    assert ids(await graph.traverse("e", 2, "incoming")) == ["e", "d", "a", "c", "b"]
    assert ids(await graph.traverse("d", 1, "both")) == ["d", "c", "e"]


@clause("UGS-117", "UGS-220")
async def test_traverse_ends_in_cycles_skips_missing_nodes_and_can_follow_some_types(graph: Graph) -> None:
    await add_edges(graph, "a b", "b a", "b b", "b c")
    await graph.add_edge("t1", "a", "nowhere", "likes")
    await graph.add_edge("t2", "a", "c", "likes")

    assert ids(await graph.traverse("a", 50)) == ["a", "b", "c"]
    assert ids(await graph.traverse("a", 0)) == ["a"]
    assert ids(await graph.traverse("a", 5, types=["likes"])) == ["a", "c"]


@clause("UGS-103", "UGS-236", "UGS-239")
async def test_traverse_needs_a_start_and_a_sensible_depth(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")

    async with world.refuses(NodeNotFound, id="x"):
        await world.graph.traverse("x", 1)
    async with world.refuses(InvalidSyntax):
        await world.graph.traverse("a", -1)
    assert ids(await world.graph.traverse("a", 10_000)) == ["a"]


@clause("UGS-5", "UGS-13", "UGS-103", "UGS-106", "UGS-109", "UGS-102")
async def test_defaults_are_read_from_the_graph_itself(graph: Graph) -> None:
    await add_edges(graph, "a b", "b c", "c d", "d e")
    assert ids(await graph.traverse("a")) == ["a", "b", "c", "d"]
    assert ids(await graph.neighbors("b")) == ["a", "c"]

    await graph.add_node(
        "_system_config",
        properties={
            "traverse_depth": 1,
            "traverse_direction": "both",
            "neighbors_direction": "incoming",
            "hubs_limit": "2",
            "history_limit": "nonsense",
        },
    )

    assert ids(await graph.traverse("b")) == ["b", "a", "c"]
    assert ids(await graph.neighbors("b")) == ["a"]
    assert ids(await graph.hubs()) == ["b", "c"]
    assert len(await graph.history()) == 10
    await graph.update("_system_config", {"traverse_depth": 2, "traverse_direction": "outgoing", "history_limit": 3})
    assert ids(await graph.traverse("b")) == ["b", "c", "d"]
    assert len(await graph.history()) == 3
    await graph.delete("_system_config")
    assert ids(await graph.traverse("a")) == ["a", "b", "c", "d"]
    assert ids(await graph.neighbors("b")) == ["a", "c"]


@pytest.mark.parametrize("case", DERIVED["path"], ids=lambda case: f"{case['from']}-{case['to']}")
@clause("UGS-104", "UGS-118", "UGS-119", "UGS-120", "UGS-221")
async def test_path_on_the_demo(graph: Graph, case: dict[str, Any]) -> None:
    await graph.load_demo()

    path = await graph.path(case["from"], case["to"])

    assert (None if path is None else ids(path.nodes)) == case["nodes"]
    if path is not None:
        assert path.weight == len(path.edges) == len(path.nodes) - 1


@clause("UGS-118", "UGS-221")
async def test_path_follows_weights_then_fewest_edges_then_smallest_ids(graph: Graph) -> None:
    await add_edges(graph, "a b 10", "b z 1", "a d 1", "d z 1", "a c 1", "c z 1", "a z 3", "z a 1")

    path = await graph.path("a", "z")
    assert path is not None
    assert (ids(path.nodes), ids(path.edges), path.weight) == (["a", "c", "z"], ["w4", "w5"], 2)

    await graph.add_edge("short", "a", "z", weight=2)
    path = await graph.path("a", "z")
    assert path is not None
    assert (ids(path.nodes), ids(path.edges)) == (["a", "z"], ["short"])


@clause("UGS-118", "UGS-119")
async def test_path_goes_with_the_edges_and_not_through_missing_nodes(graph: Graph) -> None:
    await add_edges(graph, "a b", "b c 0.5")
    await graph.add_edge("g1", "a", "ghost", weight=0)
    await graph.add_edge("g2", "ghost", "c", weight=0)

    path = await graph.path("a", "c")

    assert path is not None
    assert (ids(path.nodes), path.weight) == (["a", "b", "c"], 1.5)
    assert await graph.path("c", "a") is None
    assert await graph.path("ghost", "c") is None


@clause("UGS-118", "UGS-29")
async def test_negative_weights_are_honoured_and_negative_cycles_refused(world: StoreUnderTest) -> None:
    await add_edges(world.graph, "a b 5", "a c 2", "c b -4", "b d 1", "x y -1", "y x 0.5")

    path = await world.graph.path("a", "d")

    assert path is not None
    assert (ids(path.nodes), path.weight) == (["a", "c", "b", "d"], -1)
    await world.graph.add_edge("into", "d", "x")
    async with world.refuses(NegativeCycle):
        await world.graph.path("a", "d")


@clause("UGS-118", "UGS-221")
async def test_long_paths_and_wide_frontiers(graph: Graph) -> None:
    chain = [f"n{i} n{i + 1}" for i in range(60)]
    fans = [f"n{i} f{i}_{j} {j + 1}" for i in range(0, 60, 10) for j in range(8)]
    await add_edges(graph, *chain, *fans, "f0_7 n60 500")

    path = await graph.path("n0", "n60")

    assert path is not None
    assert (len(path.nodes), path.weight) == (61, 60)


@clause("UGS-105")
async def test_stats_on_the_demo_and_on_nothing(graph: Graph) -> None:
    assert (await graph.stats()).as_json() == {"nodes": 0, "edges": 0, "types": 0, "properties": 0}
    await graph.load_demo()
    assert (await graph.stats()).as_json() == DERIVED["stats"]
    assert list((await graph.stats()).as_json()) == ["nodes", "edges", "types", "properties"]


@clause("UGS-105", "UGS-108")
async def test_stats_count_types_without_nothing_and_keys_of_nodes_only(graph: Graph) -> None:
    await graph.add_node("a", None, {"k": None, "l": {"inner": 1}})
    await graph.add_node("b", "t", {"k": 1})
    await graph.add_edge("e", "a", "b", "u", properties={"only_on_edges": 1})

    assert (await graph.stats()).as_json() == {"nodes": 2, "edges": 1, "types": 1, "properties": 2}
    assert await graph.property_keys() == ["k", "l"]


@clause("UGS-106", "UGS-184")
async def test_hubs_on_the_demo(graph: Graph) -> None:
    await graph.load_demo()

    assert ids(await graph.hubs(2)) == fixture("ugs_demo")["expected"]["hubs"] == DERIVED["hubs"]["2"]
    assert ids(await graph.hubs(3)) == DERIVED["hubs"]["3"]
    assert ids(await graph.hubs()) == DERIVED["hubs"]["all"]
    assert {hub.node.id: hub.degree for hub in await graph.hubs()} == DERIVED["degree"]
    assert {hub.node.id: hub.incoming for hub in await graph.hubs()} == DERIVED["in_degree"]
    assert await graph.hubs(0) == []


@clause("UGS-106")
async def test_hubs_count_loops_twice_and_never_show_missing_nodes(graph: Graph) -> None:
    await add_edges(graph, "loop loop", "a b", nodes="alone")
    for n in range(3):
        await graph.add_edge(f"g{n}", "ghost", "ghost")

    assert [(hub.node.id, hub.incoming, hub.outgoing) for hub in await graph.hubs()] == [
        ("loop", 1, 1),
        ("a", 0, 1),
        ("b", 1, 0),
        ("alone", 0, 0),
    ]


@clause("UGS-107")
async def test_roots_have_no_incoming_edges(graph: Graph) -> None:
    await graph.load_demo()
    assert ids(await graph.roots()) == DERIVED["roots"]
    await graph.add_edge("loop", "task_3", "task_3")
    await graph.add_edge("ghostly", "ghost", "charlie")
    assert ids(await graph.roots()) == ["alice"]


@clause("UGS-108")
async def test_property_keys_on_the_demo_follow_the_nodes(graph: Graph) -> None:
    await graph.load_demo()
    assert await graph.property_keys() == DERIVED["property_keys"]
    for id in ("alice", "bob", "charlie"):
        await graph.update(id, remove=["role"])
    assert await graph.property_keys() == ["name", "priority", "status", "title"]


@clause("UGS-105", "UGS-211")
async def test_rows_are_grouped_and_counted_by_the_store(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.add_node("untyped")

    async with world.system.session() as session:
        groups = await session.group(NODES, "type")
        keys = await session.keys(NODES, "properties_text")

    assert groups == {"person": 3, "project": 2, "task": 3, None: 1}
    assert keys == {"name": 5, "role": 3, "status": 5, "title": 3, "priority": 3}
