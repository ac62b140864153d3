"""Loading in a few statements what operations will look at one by one, so that a group or an import costs a few round
trips and not a few per element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ugs.desk import Desk
from ugs.graph.commands import CLAIMING, AddEdge, AddNode, Delete, Operation
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER, prepare
from ugs.graph.model import COUNTERS, NODES
from ugs.identity import are_identifiers, is_identifier

ADDING = (AddNode, AddEdge)


async def prepare_operations(desk: Desk, some: Iterable[Operation]) -> None:
    """Load what deciding some operations needs; a store that has its rows at hand needs none of it."""
    if desk.session.near:
        return
    operations = list(some)
    new = [each for each in operations if isinstance(each, ADDING)]
    if len(new) < len(operations):
        others = [each for each in operations if not isinstance(each, ADDING)]
        dying = [each.id for each in others if isinstance(each, Delete) and each.kind != "edge"]
        await prepare(desk, identifiers(each.id for each in others), identifiers(dying))
    edges = [each for each in new if isinstance(each, AddEdge)]
    if edges:
        await desk.prefetch(
            (NODES, id) for id in identifiers(end for edge in edges for end in (edge.source, edge.target))
        )
    # Last, because an id that somebody else in the group has to ask about is not likely to be free.
    nameless = [each for each in new if each.id is None or each.id.startswith("$")]
    made_up = await _made_up(desk, nameless) if nameless else []
    await desk.prefetch_unlikely(dict.fromkeys(CLAIMING, identifiers([each.id for each in new]) + made_up))


async def _made_up(desk: Desk, nameless: Iterable[AddNode | AddEdge]) -> list[str]:
    """The ids that elements without one will most likely get."""
    found: list[str] = []
    for name, count in Counter(
        EDGE_COUNTER if isinstance(each, AddEdge) else NODE_COUNTER for each in nameless
    ).items():
        counter = await desk.find(COUNTERS, name)
        first = 1 if counter is None else counter.value + 1
        found += [f"{name}_{number}" for number in range(first, first + count)]
    return found


def identifiers(ids: Iterable[object]) -> list[str]:
    """What is no identifier is refused by the decision; the store need not even see it."""
    texts = [id for id in ids if isinstance(id, str)]
    return texts if are_identifiers(texts) else [id for id in texts if is_identifier(id)]
