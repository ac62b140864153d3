"""The event log: one `UGSEvent` node per event, and one `UGSLog` node that knows where the log ends.

The log node is also the lock of the one writer, and tells which version of this layout wrote the database. Events are
not chained by relationships: their positions are gapless and unique, and an index follows them faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from backends.neo4j.conditions import Parameters, in_chunks
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
        ends = ", ".join(f"log.{name}" for name in HEAD)
        self.head = f"MATCH (log:{log}) RETURN {ends}"
        # Setting a property takes the write lock; what the former owner left behind is read after that.
        self.lock = f"MATCH (lock:{log}) SET lock.locked = true WITH lock MATCH (log:{log}) RETURN {ends}, {counts}"
        self.append = (
            f"MATCH (log:{log}) SET log += $head WITH log UNWIND $events AS event CREATE (e:{event}) SET e = event"
        )
        self.create = f"MERGE (log:{log} {{id: 'log'}}) ON CREATE SET log += $head RETURN log.schema"
        self.reset = f"MERGE (log:{log} {{id: 'log'}}) SET log += $head"

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
        order = "e.position DESC" if query.newest else "e.position"
        limit = "" if query.limit is None else f"LIMIT {parameters.add(query.limit)}"
        found = f"MATCH (e:{self.names.event}) WHERE {' AND '.join(tests)} WITH e ORDER BY {order} {limit}"
        return f"{found} {in_chunks('e', _SELECTED)}", parameters.values


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


def head_after(head: Head, events: Sequence[Event]) -> Head:
    """Where the log ends when these events have been added."""
    last = events[-1]
    return Head(last.position, last.timestamp, last.crc or head.crc, head.floor)


def head_of(rows: Sequence[Sequence[Any]]) -> Head:
    """The end of the log from the columns that a statement returned first."""
    # A node that another transaction deletes meanwhile is still found, with nothing in it.
    return Head(*rows[0][: len(HEAD)]) if rows and rows[0][0] is not None else EMPTY_LOG


def head_properties(head: Head) -> dict[str, Any]:
    """What the log node says of its end."""
    return msgspec.structs.asdict(head)


def empty_head(schema: int) -> dict[str, Any]:
    """The properties of a new log."""
    return {**head_properties(EMPTY_LOG), "schema": schema}
