"""The features, by name: what each brings to the kernel, merged into one catalog and one table of deciders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ugs.catalog import Catalog, Rules
from ugs.changes import Change
from ugs.errors import WALCorrupt
from ugs.events import Event
from ugs.graph import batches, commands
from ugs.graph import events as graph
from ugs.graph.model import TABLES
from ugs.snapshots import SNAPSHOTS

REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {**graph.REDUCERS}
ELEMENTS: Mapping[str, str] = {**graph.ELEMENTS}
VERSIONED = graph.VERSIONED
DECIDERS: Mapping[type[commands.Command], Any] = {**commands.DECIDERS, **batches.DECIDERS}


def reduce(event: Event) -> list[Change]:
    """The changes of one event."""
    reducer = REDUCERS.get(event.type)
    if reducer is None:
        raise WALCorrupt(
            f"Event {event.position} has the unknown type {event.type!r}. A newer version may have written it.",
            position=event.position,
        )
    changes = reducer(event)
    return changes if event.idem is None else [*changes, *graph.remember_retry(event)]


def element_of(type: str, data: Mapping[str, Any]) -> str | None:
    """The element an event of this type is about."""
    key = ELEMENTS.get(type)
    return None if key is None else data.get(key)


RULES = Rules(
    reduce=reduce,
    remember=graph.remember_retry,
    prepare=graph.prepare_replay,
    element_of=element_of,
    counts=VERSIONED.__contains__,
    version_of=graph.version_of,
)
CATALOG = Catalog((*TABLES, SNAPSHOTS), RULES)
prepare_group = batches.prepare_group
