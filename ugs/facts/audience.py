"""Visibility of the events of facts, notes, entities and predicates: an event is visible if its records are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.events import Event
from ugs.facts.access import AccessScope
from ugs.facts.model import ENTITIES, ENTITY_DISTINCTIONS, EVIDENCE, FACTS, NOTES, PREDICATES, SUPERSESSIONS
from ugs.facts.normalization import scope_keys
from ugs.feature import Audience
from ugs.identity import Principal
from ugs.storage import EventQuery, Session
from ugs.tables import Row, Table
from ugs.values import FORBIDDEN_TEXT

SELF_DESCRIBING_EVENTS = frozenset(
    {"NoteAdded", "FactAdded", "EntityUpserted", "EntityMerged", "PredicateRegistered", "PredicateAliasAdded"}
)
"""Events whose payload contains the owner of the record."""

REFERENCES: Mapping[str, tuple[tuple[str, Table], ...]] = {
    "EvidenceAdded": (("fact_id", FACTS), ("note_id", NOTES)),
    "FactSuperseded": (("from_fact_id", FACTS), ("to_fact_id", FACTS), ("note_id", NOTES)),
    "FactInvalidated": (("fact_id", FACTS),),
    "FactMoved": (("fact_id", FACTS),),
    "FactExtended": (("fact_id", FACTS),),
    "FactReopened": (("fact_id", FACTS),),
    "FactOverridden": (("fact_id", FACTS),),
    "FactDeleted": (("fact_id", FACTS),),
    "NoteDeleted": (("note_id", NOTES),),
    "EvidenceRemoved": (("fact_id", FACTS), ("note_id", NOTES)),
    "FactUnlinked": (("fact_id", FACTS), ("to_fact_id", FACTS)),
    "EntityAliasAdded": (("entity_id", ENTITIES),),
    "EntityMergeEnded": (("entity_id", ENTITIES),),
    "EntityKeptApart": (("entity_id", ENTITIES), ("other_id", ENTITIES)),
    "EntityRestored": (("entity_id", ENTITIES),),
    "PredicateRestored": (("predicate_id", PREDICATES),),
    "NoteRestored": (("note_id", NOTES),),
    "FactRestored": (("fact_id", FACTS),),
    "EntityDeleted": (("entity_id", ENTITIES),),
    "PredicateUpdated": (("predicate_id", PREDICATES),),
    "PredicateDeleted": (("predicate_id", PREDICATES),),
}
"""Other events, with the records they refer to: an event is visible to readers who may see all of these."""

MAIN_TABLES = frozenset({ENTITIES, PREDICATES, NOTES, FACTS})
"""The tables whose rows name their owner."""

TYPES = SELF_DESCRIBING_EVENTS | REFERENCES.keys()
"""All events about facts, notes, entities and predicates."""

ROW_REFERENCES: Mapping[Table, tuple[tuple[str, Table], ...]] = {
    EVIDENCE: (("note_id", NOTES),),
    SUPERSESSIONS: (("to_fact_id", FACTS), ("note_id", NOTES)),
    ENTITY_DISTINCTIONS: (("other_id", ENTITIES),),
}
"""The other records that a row of a record refers to: it is visible to readers who may see them too."""

CREATION_EVENTS = frozenset({"NoteAdded", "FactAdded", "EntityUpserted", "PredicateRegistered"})
"""Events that create a record; they give the owner of a record deleted since."""


class Owner(Struct, frozen=True, gc=False):
    """The owner of a record; entities have no scope, predicates only a scope key."""

    tenant_id: Any = None
    project_id: Any = None
    agent_id: Any = None
    scope: Any = None
    scope_key: Any = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Owner:
        return cls(**{name: record.get(name) for name in cls.__struct_fields__})

    def allows(self, viewer: AccessScope) -> bool:
        """Whether a reader may see the record."""
        if viewer.space is None:
            return True
        return self.scope_key in scope_keys(viewer.space) if self.scope_key is not None else viewer.sees(self)


class Readers(Struct, frozen=True, gc=False):
    """The audience of an event: readers who may see all its records; only administrators if a record is unknown."""

    owners: tuple[Owner | None, ...]

    def __call__(self, principal: Principal) -> bool:
        return self.includes(AccessScope.of(principal))

    def includes(self, viewer: AccessScope) -> bool:
        """Whether a reader belongs to the audience."""
        return viewer.space is None or all(owner is not None and owner.allows(viewer) for owner in self.owners)


async def audiences_of(session: Session, events: Sequence[Event]) -> list[Audience]:
    """The audience of each event, for `Feature.audiences`."""
    return list(await readers_of(session, events))


async def seen_by(session: Session, viewer: AccessScope, events: Sequence[Event]) -> list[Event]:
    """The events that a reader may see."""
    readers = await readers_of(session, events)
    return [event for event, some in zip(events, readers, strict=True) if some.includes(viewer)]


async def readers_of(session: Session, events: Sequence[Event]) -> list[Readers]:
    """The audience of each event; at most one look-up per kind of record, and one in the log for deleted records."""
    payloads = [event.payload for event in events]
    references = [_references(event) for event in events]
    owners = await _owners(session, {found for some in references for found in some})
    return [
        Readers(
            (Owner.of(payload),)
            if event.type in SELF_DESCRIBING_EVENTS
            else tuple(owners.get(found) for found in some) or (None,)
        )
        for event, payload, some in zip(events, payloads, references, strict=True)
    ]


def _references(event: Event) -> list[tuple[Table, Any]]:
    """The records that an event refers to; one that restores rows also those of its rows."""
    payload = event.payload
    found = [(table, payload.get(key)) for key, table in REFERENCES.get(event.type, ())]
    if not event.type.endswith("Restored"):
        return found
    for of, references in ROW_REFERENCES.items():
        found += [(table, row.get(key)) for row in payload["put"].get(of.name, ()) for key, table in references]
    return list(dict.fromkeys(found))


async def show_rows(session: Session, principal: Principal, rows: Sequence[tuple[Table, Row]]) -> list[bool]:
    """Whether a principal may see each row of a record: its own owner decides, and those of what it refers to."""
    viewer = AccessScope.of(principal)
    if viewer.space is None:
        return [True] * len(rows)
    references = [[(other, getattr(row, key)) for key, other in ROW_REFERENCES.get(table, ())] for table, row in rows]
    owners = await _owners(session, {found for some in references for found in some})
    return [
        (table not in MAIN_TABLES or Owner.of(_fields(row)).allows(viewer))
        and Readers(tuple(owners.get(found) for found in some)).includes(viewer)
        for (table, row), some in zip(rows, references, strict=True)
    ]


async def _owners(session: Session, wanted: Iterable[tuple[Table, Any]]) -> dict[tuple[Table, Any], Owner]:
    """The owners of records; those of deleted records are read from the log."""
    ids: dict[Table, set[str]] = {}
    for table, id in wanted:
        if isinstance(id, str) and FORBIDDEN_TEXT.search(id) is None:
            ids.setdefault(table, set()).add(id)
    found: dict[tuple[Table, Any], Owner] = {}
    gone: dict[str, Table] = {}
    for table, some in ids.items():
        rows = await session.find_many(table, sorted(some))
        known = {table.key_of(row): Owner.of(_fields(row)) for row in rows}
        found |= {(table, id): owner for id, owner in known.items()}
        gone |= dict.fromkeys(some - known.keys(), table)
    if gone:
        for event in await session.events(EventQuery(elements=frozenset(gone), types=CREATION_EVENTS)):
            found[gone[event.element or ""], event.element] = Owner.of(event.payload)
    return found


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}
