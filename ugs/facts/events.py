"""The reducers of the events of facts. Most events carry whole records, with instants in ISO 8601."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Draft, Event
from ugs.facts.access import may_configure
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_DISTINCTIONS,
    ENTITY_MERGES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    INVALIDATIONS,
    NOTES,
    OVERRIDES,
    PREDICATE_ALIASES,
    PREDICATES,
    SUPERSESSIONS,
    EntityNode,
    Invalidation,
    Override,
    Predicate,
)
from ugs.facts.temporal.instants import instant_of, instant_text
from ugs.identity import Principal
from ugs.reads.filters import all_of, any_of, eq
from ugs.records import Part, RecordKind, allow_restoring, restore_rows
from ugs.tables import Row, Table

INSTANTS = frozenset({"created_at", "updated_at", "valid_from", "valid_to", "effective_at"})

RECORDS: Mapping[str, tuple[Table, str]] = {
    "NoteAdded": (NOTES, "note_id"),
    "EntityUpserted": (ENTITIES, "entity_id"),
    "EntityAliasAdded": (ENTITY_ALIASES, "entity_id"),
    "EntityMerged": (ENTITY_MERGES, "entity_id"),
    "PredicateRegistered": (PREDICATES, "predicate_id"),
    "PredicateAliasAdded": (PREDICATE_ALIASES, "predicate_id"),
    "FactAdded": (FACTS, "fact_id"),
    "FactSuperseded": (SUPERSESSIONS, "from_fact_id"),
    "EvidenceAdded": (EVIDENCE, "fact_id"),
    "EntityKeptApart": (ENTITY_DISTINCTIONS, "entity_id"),
}
"""Events that carry a whole record: its table, and the payload key that names the event's element."""


class Fresh(Protocol):
    """The method of a unit of work that `new_draft` needs."""

    def cache_absent(self, table: Table, key: Any) -> None: ...


KINDS = {table: name for name, (table, _) in RECORDS.items()}


def build_draft(table: Table, row: Row, **more: Any) -> Draft:
    """The event that stores a record."""
    name = KINDS[table]
    data = to_payload(msgspec.to_builtins(row)) | more
    return Draft(name, data[RECORDS[name][1]], data)


def new_draft(uow: Fresh, table: Table, row: Row) -> Draft:
    """The event that stores a record with a newly generated id, for which no look-up is needed."""
    uow.cache_absent(table, table.key_of(row))
    return build_draft(table, row)


def to_payload(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Encode fields for an event: instants become text."""
    return {
        name: instant_text(value) if name in INSTANTS and value is not None else value for name, value in fields.items()
    }


def decode_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the fields of an event: instants become integers."""
    return {
        name: instant_of(value) if name in INSTANTS and value is not None else value for name, value in fields.items()
    }


def row_in(table: Table, data: Mapping[str, Any]) -> Row:
    """The record in an event; fields missing in a foreign log are None."""
    found = decode_fields(data)
    return table.row(*(found.get(name) for name in table.names))


def store(table: Table) -> Callable[[Event], list[Change]]:
    """A reducer for events that carry a whole record."""

    def stored(event: Event) -> list[Change]:
        return [Put(table, row_in(table, event.payload))]

    return stored


def upsert_entity(event: Event) -> list[Change]:
    data = event.payload
    changes: list[Change] = [Put(ENTITIES, row_in(ENTITIES, data))]
    node_id = data.get("node_id")
    if node_id is not None:
        changes.append(Put(ENTITY_NODES, EntityNode(data["entity_id"], node_id)))
    return changes


def delete_entity(event: Event) -> list[Change]:
    """Delete the entity with its aliases, its link to the graph, and the merges that refer to it."""
    id = event.payload["entity_id"]
    merges = any_of(eq("entity_id", id), eq("into_entity_id", id))
    own = (ENTITIES, ENTITY_ALIASES, ENTITY_NODES, ENTITY_DISTINCTIONS)
    return [*_drops("entity_id", id, own), Drop(ENTITY_MERGES, merges)]


def merge_entity(event: Event) -> list[Change]:
    """Delete the merged entity's record and store where its id and name now resolve to."""
    data = event.payload
    id = data["entity_id"]
    return [
        *_drops("entity_id", id, (ENTITIES, ENTITY_ALIASES, ENTITY_NODES, ENTITY_DISTINCTIONS)),
        Put(ENTITY_MERGES, row_in(ENTITY_MERGES, data)),
    ]


def delete_note(event: Event) -> list[Change]:
    return _drops("note_id", event.payload["note_id"], (NOTES, EVIDENCE, SUPERSESSIONS))


def delete_predicate(event: Event) -> list[Change]:
    return _drops("predicate_id", event.payload["predicate_id"], (PREDICATES, PREDICATE_ALIASES))


def delete_fact(event: Event) -> list[Change]:
    id = event.payload["fact_id"]
    links = any_of(eq("from_fact_id", id), eq("to_fact_id", id))
    return [*_drops("fact_id", id, (FACTS, EVIDENCE, INVALIDATIONS, OVERRIDES)), Drop(SUPERSESSIONS, links)]


def remove_evidence(event: Event) -> list[Change]:
    """Remove a note that goes from the evidence of a fact, and the supersession of the fact that it caused."""
    note = eq("note_id", event.payload["note_id"])
    id = event.payload["fact_id"]
    return [
        Drop(EVIDENCE, all_of(eq("fact_id", id), note)),
        Drop(SUPERSESSIONS, all_of(eq("from_fact_id", id), note)),
    ]


def unlink_fact(event: Event) -> list[Change]:
    """Remove the links of a fact to a successor that goes."""
    data = event.payload
    return [Drop(SUPERSESSIONS, all_of(eq("from_fact_id", data["fact_id"]), eq("to_fact_id", data["to_fact_id"])))]


def unmerge_entity(event: Event) -> list[Change]:
    """Remove the merge of an entity into one that goes."""
    return [Drop(ENTITY_MERGES, eq("entity_id", event.payload["entity_id"]))]


def _drops(field: str, value: str, tables: Iterable[Table]) -> list[Change]:
    return [Drop(table, eq(field, value)) for table in tables]


def change_record(table: Table, key: str) -> Callable[[Event], list[Change]]:
    """A reducer for events that carry the changed fields of a record."""

    def changed(event: Event) -> list[Change]:
        data = event.payload
        fields = {name: value for name, value in decode_fields(data).items() if name in table.names and name != key}
        return [Patch(table, data[key], fields)]

    return changed


_end_fact = change_record(FACTS, "fact_id")


def invalidate_fact(event: Event) -> list[Change]:
    data = decode_fields(event.payload)
    changes = _end_fact(event)
    if data.get("reason"):
        row = Invalidation(data["fact_id"], data["reason"], data["valid_to"], data["updated_at"])
        changes.append(Put(INVALIDATIONS, row))
    return changes


def override_fact(event: Event) -> list[Change]:
    """Replace the override spans of a fact."""
    id = event.payload["fact_id"]
    spans = [decode_fields(span) for span in event.payload["spans"]]
    rows = [Override(id, span["valid_from"], span["valid_to"]) for span in spans]
    return [Drop(OVERRIDES, eq("fact_id", id)), *(Put(OVERRIDES, row) for row in rows)]


async def prepare_replay(uow: Any, events: Sequence[Event]) -> None:
    """Prefetch the records that a range of events stores or changes, in a few statements."""
    wanted = []
    for event in events:
        if event.type in RECORDS:
            table = RECORDS[event.type][0]
            wanted.append((table, event.payload[table.key[0]]))
        elif event.type in ("FactInvalidated", "FactExtended", "FactReopened", "FactMoved", "FactDeleted"):
            wanted.append((FACTS, event.element))
    await uow.prefetch(wanted)


def check_predicate_level(principal: Principal, row: Predicate) -> None:
    """Raise `Forbidden` for a predicate that is shared with others, unless the principal may configure it."""
    may_configure(principal, row.scope_key)


def _record_kind(
    name: str, main: Table, *parts: Part, check: Callable[[Principal, Any], None] = allow_restoring
) -> RecordKind:
    """A kind of record of this feature; its events are those that name it as their element."""
    return RecordKind(
        name=name,
        key=main.key[0],
        restored=f"{name.title()}Restored",
        parts=(Part(main, main.key[0]), *parts),
        types=EVENTS_OF[name] | {f"{name.title()}Restored"},
        encode=to_payload,
        decode=row_in,
        check_restoring=check,
    )


EVENTS_OF: Mapping[str, frozenset[str]] = {
    "entity": frozenset(
        {"EntityUpserted", "EntityAliasAdded", "EntityMerged", "EntityDeleted", "EntityMergeEnded", "EntityKeptApart"}
    ),
    "predicate": frozenset({"PredicateRegistered", "PredicateAliasAdded", "PredicateUpdated", "PredicateDeleted"}),
    "note": frozenset({"NoteAdded", "NoteDeleted"}),
    "fact": frozenset(
        {
            *("FactAdded", "FactSuperseded", "EvidenceAdded", "EvidenceRemoved", "FactUnlinked", "FactInvalidated"),
            *("FactExtended", "FactReopened", "FactOverridden", "FactMoved", "FactDeleted"),
        }
    ),
}
"""The events of each kind of record."""

RECORD_KINDS = (
    _record_kind(
        "entity",
        ENTITIES,
        Part(ENTITY_ALIASES, "entity_id", "aliases"),
        Part(ENTITY_NODES, "entity_id", "nodes"),
        Part(ENTITY_MERGES, "entity_id", "merges", is_shown=False),
        Part(ENTITY_DISTINCTIONS, "entity_id", "kept_apart_from"),
    ),
    _record_kind(
        "predicate", PREDICATES, Part(PREDICATE_ALIASES, "predicate_id", "aliases"), check=check_predicate_level
    ),
    _record_kind("note", NOTES),
    _record_kind(
        "fact",
        FACTS,
        Part(EVIDENCE, "fact_id", "evidence"),
        Part(SUPERSESSIONS, "from_fact_id", "superseded_by"),
        Part(INVALIDATIONS, "fact_id", "ended_because"),
        Part(OVERRIDES, "fact_id", "overridden"),
    ),
)
"""What `changes` lists and an undo restores."""


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    **{name: store(table) for name, (table, _) in RECORDS.items()},
    "NoteDeleted": delete_note,
    "EntityUpserted": upsert_entity,
    "EntityMerged": merge_entity,
    "EntityDeleted": delete_entity,
    "PredicateUpdated": change_record(PREDICATES, "predicate_id"),
    "PredicateDeleted": delete_predicate,
    "FactInvalidated": invalidate_fact,
    "FactExtended": change_record(FACTS, "fact_id"),
    "FactReopened": change_record(FACTS, "fact_id"),
    "FactOverridden": override_fact,
    "FactMoved": change_record(FACTS, "fact_id"),
    "FactDeleted": delete_fact,
    "EvidenceRemoved": remove_evidence,
    "FactUnlinked": unlink_fact,
    "EntityMergeEnded": unmerge_entity,
    **{kind.restored: restore_rows(kind) for kind in RECORD_KINDS},
}
ELEMENTS: Mapping[str, str] = {
    **{kind.restored: kind.key for kind in RECORD_KINDS},
    "EvidenceRemoved": "fact_id",
    "FactUnlinked": "fact_id",
    "EntityMergeEnded": "entity_id",
    **{name: key for name, (_, key) in RECORDS.items()},
    "NoteDeleted": "note_id",
    "EntityDeleted": "entity_id",
    "PredicateUpdated": "predicate_id",
    "PredicateDeleted": "predicate_id",
    "FactInvalidated": "fact_id",
    "FactExtended": "fact_id",
    "FactReopened": "fact_id",
    "FactOverridden": "fact_id",
    "FactMoved": "fact_id",
    "FactDeleted": "fact_id",
}
