"""The life of one fact, told by its own events."""

from __future__ import annotations

from collections.abc import Iterable

from ugs.changes import Patch, Put, patched
from ugs.events import Event
from ugs.facts.events import REDUCERS
from ugs.facts.model import FACTS, Fact

TOLD = frozenset({"FactAdded", "FactInvalidated", "FactMoved", "EvidenceAdded"})
"""Events that leave a fact to show; a supersession comes with the end of the fact it is about."""


def fact_after(events: Iterable[Event]) -> Fact | None:
    """A fact as these events, all about it, left it; None when it was deleted."""
    fact: Fact | None = None
    for event in events:
        for change in REDUCERS[event.type](event):
            if change.table is not FACTS:
                continue
            if isinstance(change, Put):
                fact = change.row
            elif isinstance(change, Patch):
                fact = None if fact is None else patched(fact, change)
            else:
                fact = None
    return fact


def is_news(event: Event, before: Iterable[Event]) -> bool:
    """Whether an event tells something about its fact that the same batch has not told already."""
    if event.type not in TOLD:
        return False
    if event.type != "EvidenceAdded" or event.tx is None:
        return True
    return not any(one.tx is not None and one.tx.id == event.tx.id and one.type in TOLD for one in before)
