"""A feature: what one topic (graph, facts, ontologies, programs) brings to the kernel.

Tables, reducers for its events, and deciders for its commands. Nothing else in the kernel, and nothing in any store,
knows that a feature exists; `ugs.features` lists them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from ugs.catalog import FindRow, Storing, Table
from ugs.changes import Change, NewElements
from ugs.desk import Desk
from ugs.events import Draft, Event

Reducer = Callable[[Event], list[Change]]


class Command(Struct, frozen=True, tag=True, tag_field="command", kw_only=True):
    """A request to change something."""

    UNASKED: ClassVar[frozenset[str]] = frozenset()
    """Fields that are made up for each try; a request sent again is the same request whatever stands there."""


class Warned(Struct, frozen=True):
    """Something the caller should know although the request was done."""

    code: str
    message: str
    id: str | None = None


class Decision(Struct, frozen=True):
    """What shall happen, and what to tell about it."""

    drafts: list[Draft]
    warnings: list[Warned] = []


Decider = Callable[[Any, Desk], Awaitable[Decision]]
QuickDecider = Callable[[Any, Desk], bool]
"""Decides a plain command and records what comes of it, exactly as the decider and the reducers would; False, and
nothing has happened, where a command is not plain or somebody would have to be asked."""


JointDecider = Callable[[Any, Desk], NewElements | None]
"""Says what several plain commands of one kind come to, exactly as if each were decided in its turn; None where one of
them is not plain, or somebody would have to be asked."""


def never_versioned(find: FindRow, element: str) -> int:
    """For features whose records have no versions."""
    return 0


def always_concerned(desk: Desk) -> bool:
    """For features that do not say when their review has nothing to say: it may have, at any time."""
    return False


class Feature(Struct, frozen=True):
    """One topic, complete."""

    name: str
    tables: tuple[Table, ...]
    reducers: Mapping[str, Reducer]
    """What each event type does to the tables; several features may have their say about one type."""
    deciders: Mapping[type[Command], Decider]
    """How each command is decided."""
    quick: Mapping[type[Command], QuickDecider] = {}
    """How plain commands of some kinds are decided without a pause."""
    together: Mapping[type[Command], JointDecider] = {}
    """How several plain commands of one kind are decided at once."""
    elements: Mapping[str, str] = {}
    """For each event type, the key of its data that names the record it is about."""
    versioned: frozenset[str] = frozenset()
    """Event types that make a new version of their element."""
    version_of: Callable[[FindRow, str], int] = never_versioned
    storing: Mapping[str, Storing] = {}
    """Quick ways for replay; what such events do is in `reducers` all the same."""
    prepare_group: Callable[[Desk, Sequence[Command]], Awaitable[None]] | None = None
    """Loads in a few statements what the commands of a group will look at."""
    prepare_replay: Callable[[Desk, Sequence[Event]], Awaitable[None]] | None = None
    """Loads in a few statements what a stretch of the log will act on."""
    review: Callable[[Desk, Sequence[Event]], Awaitable[list[Warned]]] | None = None
    """Looks at all events a command has staged, whichever feature made them: refuses by raising, or warns."""
    unconcerned: Callable[[Desk], bool] = always_concerned
    """Whether the review has certainly nothing to say now, whatever a command stages; told without asking."""
