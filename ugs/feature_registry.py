"""The list of features, merged into one catalog and one table of deciders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ugs.actors.commands import ACTORS
from ugs.catalog import Catalog, FindRow, Rules
from ugs.changes import Change, NewElements
from ugs.errors import WALCorrupt
from ugs.events import Event
from ugs.extraction.feature import EXTRACTION
from ugs.facts.feature import FACTS
from ugs.feature import (
    Audience,
    BatchDecider,
    Command,
    CommandWarning,
    Decider,
    FastDecider,
    Feature,
    Reducer,
    allow_admins_only,
    allow_everybody,
)
from ugs.graph.feature import GRAPH
from ugs.identity import Principal
from ugs.keys.feature import KEYS
from ugs.log.idempotency import RETRIES, remember_retry
from ugs.log.snapshots import SNAPSHOTS
from ugs.ontology.feature import ONTOLOGY
from ugs.programs.feature import PROGRAM
from ugs.proposals.feature import PROPOSAL
from ugs.records import RowChange
from ugs.storage import Session
from ugs.tables import Row, Table
from ugs.unit_of_work import UnitOfWork
from ugs.vectors.feature import VECTORS
from ugs.webhooks.feature import WEBHOOKS_FEATURE

FEATURES: tuple[Feature, ...] = (
    *(GRAPH, FACTS, ONTOLOGY, VECTORS, ACTORS, PROGRAM, KEYS, EXTRACTION, PROPOSAL, WEBHOOKS_FEATURE),
)


def change_nothing(event: Event) -> list[Change]:
    """Reducer of events that change no rows."""
    return []


def combine_reducers(name: str) -> Reducer:
    """One reducer for an event type, concatenating those of all features in their order."""
    reducers = [feature.reducers[name] for feature in FEATURES if name in feature.reducers]
    if len(reducers) == 1:
        return reducers[0]
    if len(reducers) == 2:
        first, second = reducers
        return lambda event: first(event) + second(event)
    return lambda event: [change for reducer in reducers for change in reducer(event)]


REDUCERS: Mapping[str, Reducer] = {
    "LogRepaired": change_nothing,
    **{name: combine_reducers(name) for feature in FEATURES for name in feature.reducers},
}
ELEMENTS = {name: key for feature in FEATURES for name, key in feature.elements.items()}
VERSIONED = frozenset(name for feature in FEATURES for name in feature.versioned)
DECIDERS: Mapping[type[Command], Decider] = {
    kind: decider for feature in FEATURES for kind, decider in feature.deciders.items()
}


FAST_DECIDERS: Mapping[type[Command], FastDecider] = {
    kind: decider for feature in FEATURES for kind, decider in feature.fast_deciders.items()
}
BATCH_DECIDERS: Mapping[type[Command], BatchDecider] = {
    kind: decider for feature in FEATURES for kind, decider in feature.batch_deciders.items()
}
BULK_REPLAY = {name: bulk for feature in FEATURES for name, bulk in feature.bulk_replay.items()}


def reduce(event: Event) -> list[Change]:
    """The changes of one event."""
    reducer = REDUCERS.get(event.type)
    if reducer is None:
        raise WALCorrupt(
            f"Event {event.position} has the unknown type {event.type!r}. A newer version may have written it.",
            position=event.position,
        )
    changes = reducer(event)
    return changes if event.idem is None else [*changes, *remember_retry(event)]


def element_of(type: str, data: Mapping[str, Any]) -> str | None:
    """The record an event of this type is about."""
    key = ELEMENTS.get(type)
    return None if key is None else data.get(key)


def version_of(find: FindRow, element: str) -> int:
    """The version an element has reached, whichever feature it belongs to."""
    return max(feature.version_of(find, element) for feature in FEATURES)


async def prepare_group(uow: UnitOfWork, commands: Sequence[Command]) -> None:
    """Let every feature prefetch the rows that a group of commands will read."""
    for feature in FEATURES:
        if feature.prepare_group is not None:
            await feature.prepare_group(uow, commands)


async def prepare_replay(uow: UnitOfWork, events: Sequence[Event]) -> None:
    """Let every feature prefetch the rows that a range of events will change."""
    for feature in FEATURES:
        if feature.prepare_replay is not None:
            await feature.prepare_replay(uow, events)


FEATURES_WITH_REVIEW = tuple(feature for feature in FEATURES if feature.review is not None)
REVIEWS = tuple(feature.review for feature in FEATURES_WITH_REVIEW if feature.review is not None)
REVIEW_IS_NOOP = tuple(feature.review_is_noop for feature in FEATURES_WITH_REVIEW)


def decide_fast(command: Command, uow: UnitOfWork) -> bool:
    """Decide and record a plain command on the fast path; False, without any effect, if it needs the general path."""
    decider = FAST_DECIDERS.get(type(command))
    if decider is None:
        return False
    for review_is_noop in REVIEW_IS_NOOP:
        if not review_is_noop(uow):
            return False
    return decider(command, uow)


def decide_batch(commands: Sequence[Command], uow: UnitOfWork) -> NewElements | None:
    """Decide plain commands of one type as a batch; None if they must be decided one by one."""
    kind, *others = set(map(type, commands))
    decider = None if others else BATCH_DECIDERS.get(kind)
    if decider is None or not all(review_is_noop(uow) for review_is_noop in REVIEW_IS_NOOP):
        return None
    return decider(commands, uow)


async def review(uow: UnitOfWork, events: Sequence[Event]) -> list[CommandWarning]:
    """Let the features validate the events that a command is about to record; returns their warnings."""
    warnings: list[CommandWarning] = []
    for look in REVIEWS:
        warnings += await look(uow, events)
    return warnings


OPEN_EVENTS = frozenset(
    name for name in REDUCERS if all(name in feature.open_events for feature in FEATURES if name in feature.reducers)
)
"""Event types visible to every principal who may read the graph."""


async def audiences_of(session: Session, events: Sequence[Event]) -> list[Audience]:
    """The audience of each event, in the given order; where several features reduce a type, all of them must agree."""
    found: list[list[Audience]] = [[] for _ in events]
    for feature in FEATURES:
        ours = [
            place
            for place, event in enumerate(events)
            if event.type in feature.reducers and event.type not in feature.open_events
        ]
        if ours and feature.audiences is not None:
            told = await feature.audiences(session, [events[place] for place in ours])
            for place, audience in zip(ours, told, strict=True):
                found[place].append(audience)
        else:
            for place in ours:
                found[place].append(allow_admins_only)
    return [
        allow_everybody if event.type in OPEN_EVENTS else _intersect_audiences(some)
        for event, some in zip(events, found, strict=True)
    ]


def _intersect_audiences(some: Sequence[Audience]) -> Audience:
    """The intersection of audiences; administrators for none, as with events of an unknown type."""
    if len(some) == 1:
        return some[0]
    return (lambda principal: all(audience(principal) for audience in some)) if some else allow_admins_only


RECORDS = tuple(kind for feature in FEATURES for kind in feature.records)
FEATURE_OF_TABLE = {part.table: feature for feature in FEATURES for kind in feature.records for part in kind.parts}


async def show_rows(session: Session, principal: Principal, rows: Sequence[tuple[Table, Row]]) -> list[bool]:
    """Whether a principal may see each row of a record, as the feature of its table decides."""
    found = [True] * len(rows)
    for feature in FEATURES:
        ours = [place for place, (table, _) in enumerate(rows) if FEATURE_OF_TABLE.get(table) is feature]
        if ours and feature.show_rows is not None:
            told = await feature.show_rows(session, principal, [rows[place] for place in ours])
            for place, is_shown in zip(ours, told, strict=True):
                found[place] = is_shown
    return found


async def after_restoring(uow: UnitOfWork, rows: Sequence[RowChange]) -> None:
    """Let every feature bring up to date what follows from rows that an undo has restored."""
    for feature in FEATURES:
        if feature.after_restoring is not None:
            await feature.after_restoring(uow, rows)


RULES = Rules(
    reduce=reduce,
    remember=remember_retry,
    prepare=prepare_replay,
    element_of=element_of,
    counts=VERSIONED.__contains__,
    version_of=version_of,
    types=frozenset(REDUCERS),
    bulk_replay=BULK_REPLAY,
    records=RECORDS,
    inert=frozenset(name for feature in FEATURES for name in feature.inert),
    after_restoring=after_restoring,
    show_rows=show_rows,
    audiences_of=audiences_of,
)
TABLES = (*(table for feature in FEATURES for table in feature.tables), RETRIES, SNAPSHOTS)
CATALOG = Catalog(TABLES, RULES)
