"""The list of features, merged into one catalog and one table of deciders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ugs.actors.delivering import ACTORS
from ugs.catalog import Catalog, FindRow, Rules
from ugs.changes import Change, NewElements
from ugs.desk import Desk
from ugs.errors import WALCorrupt
from ugs.events import Event
from ugs.facts.feature import FACTS
from ugs.feature import Command, Decider, Feature, JointDecider, QuickDecider, Reducer, Warned
from ugs.graph.feature import GRAPH
from ugs.keys.feature import KEYS
from ugs.ontology.feature import ONTOLOGY
from ugs.programs.feature import PROGRAM
from ugs.retries import RETRIES, remember_retry
from ugs.snapshots import SNAPSHOTS
from ugs.vectors.feature import VECTORS

FEATURES: tuple[Feature, ...] = (GRAPH, FACTS, ONTOLOGY, VECTORS, ACTORS, PROGRAM, KEYS)


def nothing(event: Event) -> list[Change]:
    """For events that only tell something."""
    return []


def together(name: str) -> Reducer:
    """What all features say about an event type, in their order."""
    reducers = [feature.reducers[name] for feature in FEATURES if name in feature.reducers]
    if len(reducers) == 1:
        return reducers[0]
    if len(reducers) == 2:
        first, second = reducers
        return lambda event: first(event) + second(event)
    return lambda event: [change for reducer in reducers for change in reducer(event)]


REDUCERS: Mapping[str, Reducer] = {
    "LogRepaired": nothing,
    **{name: together(name) for feature in FEATURES for name in feature.reducers},
}
ELEMENTS = {name: key for feature in FEATURES for name, key in feature.elements.items()}
VERSIONED = frozenset(name for feature in FEATURES for name in feature.versioned)
DECIDERS: Mapping[type[Command], Decider] = {
    kind: decider for feature in FEATURES for kind, decider in feature.deciders.items()
}


QUICK: Mapping[type[Command], QuickDecider] = {
    kind: quick for feature in FEATURES for kind, quick in feature.quick.items()
}
TOGETHER: Mapping[type[Command], JointDecider] = {
    kind: together for feature in FEATURES for kind, together in feature.together.items()
}
STORING = {name: storing for feature in FEATURES for name, storing in feature.storing.items()}


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


async def prepare_group(desk: Desk, commands: Sequence[Command]) -> None:
    """Let every feature load what a group of commands will look at."""
    for feature in FEATURES:
        if feature.prepare_group is not None:
            await feature.prepare_group(desk, commands)


async def prepare_replay(desk: Desk, events: Sequence[Event]) -> None:
    """Let every feature load what a stretch of the log will act on."""
    for feature in FEATURES:
        if feature.prepare_replay is not None:
            await feature.prepare_replay(desk, events)


REVIEWING = tuple(feature for feature in FEATURES if feature.review is not None)
REVIEWS = tuple(feature.review for feature in REVIEWING if feature.review is not None)
UNCONCERNED = tuple(feature.unconcerned for feature in REVIEWING)


def decided_at_once(command: Command, desk: Desk) -> bool:
    """Decide and record a plain command; False, and nothing has happened, where it takes the usual way."""
    quick = QUICK.get(type(command))
    if quick is None:
        return False
    for is_unconcerned in UNCONCERNED:
        if not is_unconcerned(desk):
            return False
    return quick(command, desk)


def decided_together(commands: Sequence[Command], desk: Desk) -> NewElements | None:
    """What plain commands of one kind come to; None where each takes its own way."""
    kind, *others = set(map(type, commands))
    together = None if others else TOGETHER.get(kind)
    if together is None or not all(is_unconcerned(desk) for is_unconcerned in UNCONCERNED):
        return None
    return together(commands, desk)


async def review(desk: Desk, events: Sequence[Event]) -> list[Warned]:
    """What the features think of the events that a command is about to record."""
    warnings: list[Warned] = []
    for look in REVIEWS:
        warnings += await look(desk, events)
    return warnings


RULES = Rules(
    reduce=reduce,
    remember=remember_retry,
    prepare=prepare_replay,
    element_of=element_of,
    counts=VERSIONED.__contains__,
    version_of=version_of,
    types=frozenset(REDUCERS),
    storing=STORING,
)
TABLES = (*(table for feature in FEATURES for table in feature.tables), RETRIES, SNAPSHOTS)
CATALOG = Catalog(TABLES, RULES)
