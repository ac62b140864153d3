"""Versions of an element, rebuilt from its own events.

Version n is the state after the n-th event that added or changed the element, counted from the start of the log and
across deletions, so that a version number never changes its meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ugs.changes import Change, Patch, Put, patched
from ugs.events import Event
from ugs.graph.events import REDUCERS, VERSIONED
from ugs.graph.model import EDGES, NODES, Element
from ugs.tables import Row
from ugs.values import to_text


class ElementVersion(Struct, frozen=True):
    """One state of an element; `element` is None after its deletion."""

    version: int
    timestamp: int
    event: Event
    element: Element | None


def build_versions(id: str, events: Iterable[Event]) -> list[ElementVersion]:
    """Every state of the element, oldest first."""
    life: list[ElementVersion] = []
    element: Row | None = None
    version = 0
    for event in events:
        if event.element != id or event.type not in REDUCERS:
            continue
        if event.version is None and event.type in VERSIONED:
            event = msgspec.structs.replace(event, version=version + 1)
        element = _after(element, id, REDUCERS[event.type](event))
        version = version if element is None else element.version
        life.append(ElementVersion(version, event.timestamp, event, element))
    return life


def _after(element: Row | None, id: str, changes: list[Change]) -> Row | None:
    """The element after the changes; those of other tables are ignored."""
    for change in changes:
        if change.table not in (NODES, EDGES):
            continue
        if isinstance(change, Put):
            element = change.row
        elif isinstance(change, Patch):
            element = None if element is None else patched(element, change)
        else:
            element = None
    return element


def element_at(id: str, version: int, events: Iterable[Event]) -> Element | None:
    """The element at a version, or None if it never had that version."""
    for state in build_versions(id, events):
        if state.version == version and state.element is not None:
            return state.element
    return None


def events_until(id: str, version: int, events: Iterable[Event]) -> list[Event]:
    """The events that led to a version of an element."""
    life = build_versions(id, events)
    last = next(place for place, state in enumerate(life) if state.version == version and state.element is not None)
    return [state.event for state in life[: last + 1]]


def changed_properties(have: dict[str, Any], want: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The properties to set and the keys to remove that turn `have` into `want`."""
    # Compared as canonical text, since in Python 1 == 1.0 == True.
    changed = {key: value for key, value in want.items() if key not in have or to_text(have[key]) != to_text(value)}
    return changed, sorted(key for key in have if key not in want)


def difference(now: Element | None, then: Element) -> dict[str, Any]:
    """The update that restores an element to an earlier state; empty if there is no difference."""
    changed, removed = changed_properties({} if now is None else now.properties, then.properties)
    found: dict[str, Any] = {}
    if changed:
        found["properties"] = changed
    if removed:
        found["removed"] = removed
    for name in ("type", "data", "weight"):
        if hasattr(then, name) and getattr(now, name, None) != getattr(then, name):
            found[name] = getattr(then, name)
    return found
