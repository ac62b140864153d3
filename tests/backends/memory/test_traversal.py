"""Pages of very many rows: along the order of all rows or through the texts of another table, the answer is the same."""

from itertools import product

import pytest

from ugs.graph.api import Graph
from ugs.graph.model import NODES, Node
from ugs.reads.filters import EVERYTHING, Compare, Linked, Op, all_of, eq
from ugs.reads.plan import Order, Page, full_order, paged, place_of
from ugs.system import System
from ugs_backends.memory.query import executor

SAYS = {f"n{n:02}": f"{'even' if n % 2 == 0 else 'odd'} {'rare' if n in (7, 58) else ''}" for n in range(60)}
TYPES = {id: "few" if int(id[1:]) % 10 == 0 else "many" for id in SAYS}
ORDERS = [(Order("created"),), (Order("created", True), Order("id", True)), (), (Order("type"),)]


def saying(part: str) -> Linked:
    return Linked("content_body", Compare("folded", Op.CONTAINS, part))


CONDITIONS = {
    "type": (eq("type", "many"), lambda node: node.type == "many"),
    "everything": (EVERYTHING, lambda node: True),
    "even": (saying("even"), lambda node: "even" in SAYS.get(node.id, "")),
    "rare": (saying("rare"), lambda node: "rare" in SAYS.get(node.id, "")),
    "both": (all_of(saying("odd"), saying("rare")), lambda node: node.id == "n07"),
    "typed": (all_of(eq("type", "few"), saying("even")), lambda node: node.type == "few"),
    "nothing": (saying("never"), lambda node: False),
}


@pytest.mark.parametrize(("patience", "rare"), [(3, 1), (3, 10), (1_000, 10)])
@pytest.mark.parametrize("name", CONDITIONS)
async def test_every_way_leads_to_the_same_page(
    name: str, patience: int, rare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "SORTED_SCAN_THRESHOLD", 1)
    monkeypatch.setattr(executor, "SORTED_SCAN_ROWS", patience)
    monkeypatch.setattr(executor, "MAX_ROWS_PER_MATCH", rare)
    where, meets = CONDITIONS[name]
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.import_graph({"nodes": [{"id": id, "type": TYPES[id], "content": SAYS[id]} for id in SAYS]})
        await graph.import_graph(
            {"nodes": [{"id": "silent"}], "edges": [{"from": "n00", "to": "n01", "content": "rare"}]}
        )
        async with system.session() as session:
            every: list[Node] = await session.fetch(NODES)
            meant = [node for node in every if meets(node)]
            assert len(every) == 61 and await session.count(NODES, where) == len(meant)
            for order, limit, backward in product(ORDERS, (None, 1, 2, 5, 100), (False, True)):
                for place in (None, every[20]):
                    after = None if place is None else place_of(place, full_order(NODES, order))
                    page = Page(limit=limit, after=after, backward=backward)
                    found = await session.fetch(NODES, where, order, page)
                    assert found == paged(meant, NODES, order, page), (order, page)
