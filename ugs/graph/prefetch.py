"""Prefetching of the rows that operations will read, so that a group or an import costs a few round trips, not a few
per element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ugs.graph.commands import ID_TABLES, UPSERTS, AddEdge, AddNode, Delete, Operation
from ugs.graph.events import EDGE_COUNTER, NODE_COUNTER, prepare
from ugs.graph.model import COUNTERS, NODES
from ugs.identity import are_identifiers, is_identifier
from ugs.unit_of_work import UnitOfWork

ADDING = (AddNode, AddEdge)


async def prepare_operations(uow: UnitOfWork, some: Iterable[Operation]) -> None:
    """Prefetch the rows that the deciders of these operations read; a no-op for in-process stores."""
    if uow.session.in_process:
        return
    operations = list(some)
    new = [each for each in operations if isinstance(each, ADDING) and not isinstance(each, UPSERTS)]
    if len(new) < len(operations):
        others = [each for each in operations if not isinstance(each, ADDING) or isinstance(each, UPSERTS)]
        dying = [each.id for each in others if isinstance(each, Delete) and each.kind != "edge"]
        await prepare(uow, identifiers(each.id for each in others), identifiers(dying))
    edges = [each for each in operations if isinstance(each, AddEdge)]
    if edges:
        await uow.prefetch(
            (NODES, id) for id in identifiers(end for edge in edges for end in (edge.source, edge.target))
        )
    # Last, because ids that other operations of the group refer to are loaded above and probably exist.
    nameless = [each for each in new if each.id is None or each.id.startswith("$")]
    made_up = await _predict_ids(uow, nameless) if nameless else []
    await uow.prefetch_unlikely(dict.fromkeys(ID_TABLES, identifiers([each.id for each in new]) + made_up))


async def _predict_ids(uow: UnitOfWork, nameless: Iterable[AddNode | AddEdge]) -> list[str]:
    """The ids that will most likely be generated for elements without one."""
    found: list[str] = []
    for name, count in Counter(
        EDGE_COUNTER if isinstance(each, AddEdge) else NODE_COUNTER for each in nameless
    ).items():
        counter = await uow.find(COUNTERS, name)
        first = 1 if counter is None else counter.value + 1
        found += [f"{name}_{number}" for number in range(first, first + count)]
    return found


def identifiers(ids: Iterable[object]) -> list[str]:
    """The valid identifiers among `ids`; the decider rejects the others, so they need no look-up."""
    texts = [id for id in ids if isinstance(id, str)]
    return texts if are_identifiers(texts) else [id for id in texts if is_identifier(id)]
