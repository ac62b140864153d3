"""The history of one fact, rebuilt from its own events."""

from __future__ import annotations

from collections.abc import Iterable

from ugs.changes import Patch, Put, patched
from ugs.events import Event
from ugs.facts.events import REDUCERS
from ugs.facts.model import FACTS, Fact

REPORTED_EVENTS = frozenset(
    {"FactAdded", "FactInvalidated", "FactExtended", "FactReopened", "FactMoved", "FactRestored", "EvidenceAdded"}
)
"""Events worth reporting; a supersession comes with the event that gives its fact an end."""


def fact_after(events: Iterable[Event]) -> Fact | None:
    """The state of a fact after these events, all about it; None if it was deleted."""
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


def is_reported(event: Event, before: Iterable[Event]) -> bool:
    """Whether an event should be reported: evidence is not if its batch has another reported event of the fact."""
    if event.type not in REPORTED_EVENTS:
        return False
    if event.type != "EvidenceAdded" or event.tx is None:
        return True
    return not any(one.tx is not None and one.tx.id == event.tx.id and one.type in REPORTED_EVENTS for one in before)
