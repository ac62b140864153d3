"""A feature: the tables, reducers and deciders of one subject (graph, facts, ontologies, programs).

No store and no other part of the kernel depends on a particular feature; `ugs.feature_registry` lists them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from ugs.catalog import BulkReducer, FindRow
from ugs.changes import Change, NewElements
from ugs.events import Draft, Event
from ugs.identity import Principal
from ugs.records import RecordKind, RowChange, ShowRows
from ugs.storage import Session
from ugs.tables import Table
from ugs.unit_of_work import UnitOfWork

Reducer = Callable[[Event], list[Change]]


class Command(Struct, frozen=True, tag=True, tag_field="command", kw_only=True):
    """A request to change something."""

    GENERATED_FIELDS: ClassVar[frozenset[str]] = frozenset()
    """Fields generated anew for each try; ignored when a retry is compared with the first request."""


class CommandWarning(Struct, frozen=True):
    """A remark for the caller about a command that was executed."""

    code: str
    message: str
    id: str | None = None


class Decision(Struct, frozen=True):
    """The result of a decider: events to record, and warnings for the caller."""

    drafts: list[Draft]
    warnings: list[CommandWarning] = []


Decider = Callable[[Any, UnitOfWork], Awaitable[Decision]]
FastDecider = Callable[[Any, UnitOfWork], bool]
"""Fast path for a plain command: decides it and records events and rows synchronously, exactly as decider and reducers
would. False, without any effect, if the command is not plain or the decision needs a look-up."""


BatchDecider = Callable[[Any, UnitOfWork], NewElements | None]
"""Fast path for a batch of plain commands of one type, equal to deciding each in turn; None if one of them is not plain
or needs a look-up."""


def unversioned(find: FindRow, element: str) -> int:
    """Default of `Feature.version_of`, for features whose records have no versions."""
    return 0


def review_always_runs(uow: UnitOfWork) -> bool:
    """Default of `Feature.review_is_noop`: the review must always run."""
    return False


Audience = Callable[[Principal], bool]
"""Whether a principal may see an event; evaluated without a look-up in the store."""
FindAudiences = Callable[[Session, Sequence[Event]], Awaitable[Sequence[Audience]]]


def allow_admins_only(principal: Principal) -> bool:
    """The audience of events whose feature declares none."""
    return "admin" in principal.roles


def allow_everybody(principal: Principal) -> bool:
    """The audience of open events."""
    return True


class Feature(Struct, frozen=True):
    """The declaration of one feature; `ugs.feature_registry` merges them."""

    name: str
    tables: tuple[Table, ...]
    reducers: Mapping[str, Reducer]
    """The changes of each event type; several features may reduce the same type."""
    deciders: Mapping[type[Command], Decider]
    """The decider of each command type."""
    fast_deciders: Mapping[type[Command], FastDecider] = {}
    """Synchronous fast paths for plain commands of some types."""
    batch_deciders: Mapping[type[Command], BatchDecider] = {}
    """Batch fast paths for several plain commands of one type."""
    elements: Mapping[str, str] = {}
    """For each event type, the key of its data that names the record it is about."""
    versioned: frozenset[str] = frozenset()
    """Event types that make a new version of their element."""
    version_of: Callable[[FindRow, str], int] = unversioned
    bulk_replay: Mapping[str, BulkReducer] = {}
    """Batch fast paths for replay; `reducers` defines the same changes."""
    prepare_group: Callable[[UnitOfWork, Sequence[Command]], Awaitable[None]] | None = None
    """Prefetches the rows that a group of commands will read, in a few statements."""
    prepare_replay: Callable[[UnitOfWork, Sequence[Event]], Awaitable[None]] | None = None
    """Prefetches the rows that a range of events will change, in a few statements."""
    review: Callable[[UnitOfWork, Sequence[Event]], Awaitable[list[CommandWarning]]] | None = None
    """Validates all events that a command has staged, of any feature: raises to refuse it, or returns warnings."""
    review_is_noop: Callable[[UnitOfWork], bool] = review_always_runs
    """Whether the review can be skipped whatever a command stages; answered without a look-up."""
    open_events: frozenset[str] = frozenset()
    """Event types visible to every principal who may read the graph; `audiences` decides about all others."""
    audiences: FindAudiences | None = None
    """Returns the audience of each event of this feature, in the given order, in a few statements for all of them;
    without it only administrators may see them."""
    records: tuple[RecordKind, ...] = ()
    """The records that `changes` lists and an undo restores, besides nodes and edges."""
    inert: frozenset[str] = frozenset()
    """Event types that an undo passes over, since there is nothing to restore."""
    after_restoring: Callable[[UnitOfWork, Sequence[RowChange]], Awaitable[None]] | None = None
    """Brings up to date what follows from rows that an undo has restored."""
    show_rows: ShowRows | None = None
    """Who may see rows of the records; without it whoever may read the graph."""
