"""The event log: one `UGSEvent` node per event, and one `UGSLog` node that knows where the log ends.

The log node is also the lock of the one writer, and tells which version of this layout wrote the database. Events are
not chained by relationships: their positions are gapless and unique, and an index follows them faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from backends.neo4j.conditions import Parameters
from backends.neo4j.layout import Names
from ugs.events import EMPTY_LOG, Event, Head, Idem, Tx
from ugs.storage import EventQuery

COLUMNS = Event.__struct_fields__
HEAD = Head.__struct_fields__
_JSON = {"tx": Tx, "idem": Idem}


class Log:
    """The statements of the log."""

    def __init__(self, names: Names, placeholders: Sequence[str]) -> None:
        self.names = names
        log, event = names.log, names.event
        counts = " + ".join(["0", *(f"COUNT {{ (:{label}) }}" for label in placeholders)])
        # Setting a property takes the write lock; only a later statement reads what the former owner left behind.
        self.lock = f"MATCH (log:{log}) SET log.locked = true RETURN {counts}"
        self.head = f"MATCH (log:{log}) RETURN " + ", ".join(f"log.{name}" for name in HEAD)
        self.append = (
            f"MATCH (log:{log}) SET log += $head WITH log UNWIND $events AS event CREATE (e:{event}) SET e = event"
        )
        self.create = f"MERGE (log:{log} {{id: 'log'}}) ON CREATE SET log += $head RETURN log.schema"

    def query(self, query: EventQuery) -> tuple[str, dict[str, Any]]:
        """The statement for a part of the log."""
        parameters = Parameters()
        tests = [f"e.position > {parameters.add(query.after)}"]
        if query.until is not None:
            tests.append(f"e.position <= {parameters.add(query.until)}")
        if query.element is not None:
            tests.append(f"e.element = {parameters.add(query.element)}")
        if query.types is not None:
            tests.append(f"e.type IN {parameters.add(sorted(query.types))}")
        text = f"MATCH (e:{self.names.event}) WHERE {' AND '.join(tests)} RETURN {_SELECTED}"
        order = " ORDER BY e.position" + (" DESC" if query.newest else "")
        limit = "" if query.limit is None else f" LIMIT {parameters.add(query.limit)}"
        return text + order + limit, parameters.values


_SELECTED = ", ".join(f"e.{name}" for name in COLUMNS)


def event_properties(event: Event) -> dict[str, Any]:
    """The event as properties of its node."""
    properties = {name: value for name in COLUMNS if (value := getattr(event, name)) is not None}
    for name in _JSON:
        if name in properties:
            properties[name] = msgspec.json.encode(properties[name]).decode()
    return properties


def event_of(values: Sequence[Any]) -> Event:
    """The event behind the properties of its node."""
    fields = dict(zip(COLUMNS, values, strict=True))
    for name, kind in _JSON.items():
        if fields[name] is not None:
            fields[name] = msgspec.json.decode(fields[name], type=kind)
    return Event(**fields)


def head_after(events: Sequence[Event]) -> dict[str, Any]:
    """What the log node learns from new events."""
    last = events[-1]
    sealed = {} if last.crc is None else {"crc": last.crc}
    return {"position": last.position, "timestamp": last.timestamp, **sealed}


def head_of(rows: Sequence[Sequence[Any]]) -> Head:
    return Head(*rows[0]) if rows else EMPTY_LOG


def empty_head(schema: int) -> dict[str, Any]:
    """The properties of a new log."""
    return {**msgspec.structs.asdict(EMPTY_LOG), "schema": schema}
