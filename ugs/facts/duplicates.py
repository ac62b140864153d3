"""Detection of duplicate entities: names equal but for punctuation or order, shared aliases, or edit distance 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from ugs.errors import LimitExceeded
from ugs.facts.access import AccessScope
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_DISTINCTIONS,
    Entity,
    EntityAlias,
    EntityDistinction,
)
from ugs.facts.normalization import Space
from ugs.reads.filters import in_
from ugs.reads.plan import Page
from ugs.storage import Session

MAX_COMPARED_ENTITIES = 20_000
MAX_SAME_NAME_IDS = 50
MIN_NAME_CHARS = 4
"""Shorter names are not compared by edit distance, since too many are within one edit."""
MAX_NAME_CHARS = 64
WORDS = re.compile(r"\w+")


class Suggestion(Struct, frozen=True):
    """Two entities that may be duplicates, and why."""

    first: Entity
    second: Entity
    reason: str
    """`normal form`, `alias` or `edit distance`."""


async def suggest_duplicates(session: Session, viewer: AccessScope, space: Space, limit: int = 50) -> list[Suggestion]:
    """Pairs of entities of a project that may be duplicates, most certain first; none that was rejected before."""
    entities: list[Entity] = await session.fetch(
        ENTITIES, viewer.within(space), page=Page(limit=MAX_COMPARED_ENTITIES + 1)
    )
    if len(entities) > MAX_COMPARED_ENTITIES:
        raise LimitExceeded(
            f"more than {MAX_COMPARED_ENTITIES} entities cannot be compared at once", limit=MAX_COMPARED_ENTITIES
        )
    ids = [entity.entity_id for entity in entities]
    aliases: list[EntityAlias] = await session.fetch(ENTITY_ALIASES, in_("entity_id", ids)) if ids else []
    found: dict[tuple[str, str], Suggestion] = {}
    by_id = {entity.entity_id: entity for entity in entities}
    for reason, pairs in (
        (
            "normal form",
            _same_name_pairs((_normalized_words(entity.canonical_norm), entity.entity_id) for entity in entities),
        ),
        ("alias", _same_name_pairs(_names(entities, aliases))),
        ("edit distance", _edit_distance_pairs(entities)),
    ):
        for one, other in pairs:
            found.setdefault((one, other), Suggestion(by_id[one], by_id[other], reason))
    apart = await _kept_apart(session, ids)
    return [one for pair, one in found.items() if tuple(sorted(pair)) not in apart][:limit]


async def _kept_apart(session: Session, ids: Sequence[str]) -> set[tuple[str, str]]:
    """The pairs of these entities that are known not to be the same."""
    if not ids:
        return set()
    rows: list[EntityDistinction] = await session.fetch(ENTITY_DISTINCTIONS, in_("entity_id", ids))
    return {(row.entity_id, row.other_id) for row in rows}


def _normalized_words(name: str) -> str:
    """The words of a name without punctuation, sorted."""
    return " ".join(sorted(WORDS.findall(name))) or name


def _names(entities: Iterable[Entity], aliases: Iterable[EntityAlias]) -> Iterator[tuple[str, str]]:
    for entity in entities:
        yield entity.canonical_norm, entity.entity_id
    for alias in aliases:
        yield alias.alias_norm, alias.entity_id


def _same_name_pairs(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Pairs of ids with the same name, each pair sorted; names with more than `MAX_SAME_NAME_IDS` ids are skipped."""
    groups: dict[str, set[str]] = {}
    for name, id in named:
        groups.setdefault(name, set()).add(id)
    for group in groups.values():
        if 1 < len(group) <= MAX_SAME_NAME_IDS:
            yield from combinations(sorted(group), 2)


def _edit_distance_pairs(entities: Iterable[Entity]) -> Iterator[tuple[str, str]]:
    """Pairs of names at edit distance 1; candidates share a form with one letter deleted."""
    names = {entity.entity_id: entity.canonical_norm for entity in entities}
    usable = {id: name for id, name in names.items() if MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS}
    shortened = ((short, id) for id, name in usable.items() for short in _one_letter_deletions(name))
    for one, other in sorted(set(_same_name_pairs(shortened))):
        if edit_distance(usable[one], usable[other]) == 1:
            yield one, other


def _one_letter_deletions(name: str) -> set[str]:
    return {name, *(name[:i] + name[i + 1 :] for i in range(len(name)))}


def edit_distance(one: str, other: str) -> int:
    """The Damerau-Levenshtein distance (optimal string alignment)."""
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
