"""A question: its words, and the entities that it names."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_MERGES, PREDICATE_ALIASES, Entity
from ugs.facts.normalization import Space, normalize_name, scope_keys
from ugs.facts.resolution import find_entities, in_space
from ugs.facts.search_terms import Term, question_terms, stemmed_words
from ugs.reads.filters import all_of, in_
from ugs.storage import Session

MAX_TERMS = 12
MAX_NAME_WORDS = 6
MAX_QUESTION_WORDS = 40
PUNCTUATION = " \t\r\n.,;:!?\"'`()[]{}<>“”‘’«»„…¿¡"
POSSESSIVES = ("'s", "’s")


class Question(Struct, frozen=True):
    """The parsed question."""

    text: str
    terms: list[Term]
    entities: list[Entity]
    """The entities whose whole name or alias occurs in it, by name."""
    predicates: dict[str, dict[str, str]]
    """By predicate id: the words of all its names, with their stems."""


async def parse_question(session: Session, space: Space, text: str) -> Question:
    """Split a question into words and resolve the names in it."""
    entities = await find_named_entities(session, space, text)
    return Question(text, question_terms(text, MAX_TERMS), entities, await _predicate_words(session, space))


async def find_named_entities(session: Session, space: Space, text: str) -> list[Entity]:
    """The entities of a project whose whole name or alias occurs in a text."""
    names = sorted(set(_name_candidates(text)))
    if not names:
        return []
    where = in_("canonical_norm", names)
    found = await session.fetch(ENTITIES, all_of(where, in_space(space)))
    merged = await session.fetch(ENTITY_MERGES, all_of(where, in_space(space)))
    aliases = await session.fetch(ENTITY_ALIASES, in_("alias_norm", names))
    ids = {row.entity_id for row in (*merged, *aliases)} - {row.entity_id for row in found}
    others = await find_entities(session, sorted(ids), space) if ids else {}
    unique = {row.entity_id: row for row in (*found, *others.values())}
    return sorted(unique.values(), key=lambda row: (row.canonical_norm, row.entity_id))


def _name_candidates(text: str) -> Iterator[str]:
    """Every run of words that may be a name, normalised as names are."""
    words = [word for word in normalize_name(text).split() if word.strip(PUNCTUATION)][:MAX_QUESTION_WORDS]
    for start in range(len(words)):
        for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
            run = " ".join(words[start:end])
            yield run
            trimmed = run.strip(PUNCTUATION)
            yield trimmed
            for ending in POSSESSIVES:
                yield trimmed.removesuffix(ending)


async def _predicate_words(session: Session, space: Space) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for alias in await session.fetch(PREDICATE_ALIASES, in_("scope_key", scope_keys(space))):
        found.setdefault(alias.predicate_id, {}).update(stemmed_words(alias.alias))
    return found
