"""Which entities may be the same: equal but for punctuation or word order, sharing an alias, or one slip apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from msgspec import Struct

from ugs.errors import LimitExceeded
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, Entity, EntityAlias
from ugs.facts.names import Space
from ugs.facts.viewing import Viewer
from ugs.reads.plan import Page
from ugs.reads.where import in_
from ugs.storage import Session

MOST_COMPARED = 20_000
MOST_ALIKE = 50
SHORTEST = 4
"""Shorter names differ by a letter too easily."""
LONGEST = 64
WORDS = re.compile(r"\w+")


class Suggestion(Struct, frozen=True):
    """Two entities that may be one, and why."""

    first: Entity
    second: Entity
    reason: str
    """`normal form`, `alias` or `edit distance`."""


async def suggest_duplicates(session: Session, viewer: Viewer, space: Space, limit: int = 50) -> list[Suggestion]:
    """Pairs of entities of a project that somebody should look at, the surest first."""
    entities: list[Entity] = await session.fetch(ENTITIES, viewer.within(space), page=Page(limit=MOST_COMPARED + 1))
    if len(entities) > MOST_COMPARED:
        raise LimitExceeded(f"more than {MOST_COMPARED} entities cannot be compared at once", limit=MOST_COMPARED)
    ids = [entity.entity_id for entity in entities]
    aliases: list[EntityAlias] = await session.fetch(ENTITY_ALIASES, in_("entity_id", ids)) if ids else []
    found: dict[tuple[str, str], Suggestion] = {}
    by_id = {entity.entity_id: entity for entity in entities}
    for reason, pairs in (
        ("normal form", _alike((_bare(entity.canonical_norm), entity.entity_id) for entity in entities)),
        ("alias", _alike(_names(entities, aliases))),
        ("edit distance", _slips(entities)),
    ):
        for one, other in pairs:
            found.setdefault((one, other), Suggestion(by_id[one], by_id[other], reason))
    return list(found.values())[:limit]


def _bare(name: str) -> str:
    """The words of a name without punctuation, in any order."""
    return " ".join(sorted(WORDS.findall(name))) or name


def _names(entities: Iterable[Entity], aliases: Iterable[EntityAlias]) -> Iterator[tuple[str, str]]:
    for entity in entities:
        yield entity.canonical_norm, entity.entity_id
    for alias in aliases:
        yield alias.alias_norm, alias.entity_id


def _alike(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pairs of ids under one name, each pair in one order."""
    groups: dict[str, set[str]] = {}
    for name, id in named:
        groups.setdefault(name, set()).add(id)
    for group in groups.values():
        if 1 < len(group) <= MOST_ALIKE:
            yield from combinations(sorted(group), 2)


def _slips(entities: Iterable[Entity]) -> Iterator[tuple[str, str]]:
    """Names that become equal when one letter is left out of each: one added, lost, changed or swapped."""
    names = {entity.entity_id: entity.canonical_norm for entity in entities}
    usable = {id: name for id, name in names.items() if SHORTEST <= len(name) <= LONGEST}
    shortened = ((short, id) for id, name in usable.items() for short in _shortenings(name))
    for one, other in sorted(set(_alike(shortened))):
        if edit_distance(usable[one], usable[other]) == 1:
            yield one, other


def _shortenings(name: str) -> set[str]:
    return {name, *(name[:i] + name[i + 1 :] for i in range(len(name)))}


def edit_distance(one: str, other: str) -> int:
    """How many letters must be added, lost, changed or swapped with their neighbour."""
    older: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, theirs in enumerate(other, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == theirs:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        older, last = last, row
    return last[-1]
