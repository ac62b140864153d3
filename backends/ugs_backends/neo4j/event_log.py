"""The event log: one `UGSEvent` node per event, and one `UGSLog` node with the head of the log.

The log node also serves as the write lock, and holds the layout version of the database. Events are not linked by
relationships: their positions are gapless and unique, and an index look-up is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ugs.events import EMPTY_LOG, Event, Head, Idem, Tx
from ugs.storage import EventQuery
from ugs_backends.neo4j.cypher_fragments import Parameters, return_in_chunks
from ugs_backends.neo4j.layout import Names

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
        # Setting a property takes the write lock; the second MATCH reads what the previous holder committed.
        self.lock = f"MATCH (lock:{log}) SET lock.locked = true WITH lock MATCH (log:{log}) RETURN {ends}, {counts}"
        self.append = (
            f"MATCH (log:{log}) SET log += $head WITH log UNWIND $events AS event CREATE (e:{event}) SET e = event"
        )
        self.create = f"MERGE (log:{log} {{id: 'log'}}) ON CREATE SET log += $head RETURN log.schema"
        self.reset = f"MERGE (log:{log} {{id: 'log'}}) SET log += $head"

    def query(self, query: EventQuery) -> tuple[str, dict[str, Any]]:
        """The statement for the events that a query selects."""
        parameters = Parameters()
        tests = [f"e.position > {parameters.add(query.after)}"]
        if query.until is not None:
            tests.append(f"e.position <= {parameters.add(query.until)}")
        if query.element is not None:
            tests.append(f"e.element = {parameters.add(query.element)}")
        if query.elements is not None:
            tests.append(f"e.element IN {parameters.add(sorted(query.elements))}")
        if query.types is not None:
            tests.append(f"e.type IN {parameters.add(sorted(query.types))}")
        order = "e.position DESC" if query.newest else "e.position"
        limit = "" if query.limit is None else f"LIMIT {parameters.add(query.limit)}"
        found = f"MATCH (e:{self.names.event}) WHERE {' AND '.join(tests)} WITH e ORDER BY {order} {limit}"
        if query.max_bytes is not None:
            most = parameters.add(query.max_bytes)
            found += (
                " WITH collect(e) AS chosen WITH chosen, reduce(told = [0, 0], e IN chosen | CASE WHEN told[0] < "
                f"{most} THEN [told[0] + size(e.data), told[1] + 1] ELSE told END)[1] AS count "
                "UNWIND chosen[0..count] AS e"
            )
        return f"{found} {return_in_chunks('e', _SELECTED)}", parameters.values


_SELECTED = ", ".join(f"e.{name}" for name in COLUMNS)


def encode_event(event: Event) -> dict[str, Any]:
    """Encode an event as properties of its node."""
    properties = {name: value for name in COLUMNS if (value := getattr(event, name)) is not None}
    for name in _JSON:
        if name in properties:
            properties[name] = msgspec.json.encode(properties[name]).decode()
    return properties


def decode_event(values: Sequence[Any]) -> Event:
    """Decode an event from the columns of its node."""
    fields = dict(zip(COLUMNS, values, strict=True))
    for name, kind in _JSON.items():
        if fields[name] is not None:
            fields[name] = msgspec.json.decode(fields[name], type=kind)
    return Event(**fields)


def advance_head(head: Head, events: Sequence[Event]) -> Head:
    """The head of the log after these events."""
    last = events[-1]
    return Head(last.position, last.timestamp, last.crc or head.crc, head.floor)


def read_head(rows: Sequence[Sequence[Any]]) -> Head:
    """The head of the log, from the first columns of a result."""
    # A node that another transaction is deleting may still be found, without properties.
    return Head(*rows[0][: len(HEAD)]) if rows and rows[0][0] is not None else EMPTY_LOG


def encode_head(head: Head) -> dict[str, Any]:
    """The properties of the log node for a head."""
    return msgspec.structs.asdict(head)


def create_head(schema: int) -> dict[str, Any]:
    """The properties of a new log."""
    return {**encode_head(EMPTY_LOG), "schema": schema}
