"""The rows that may answer a question: by words, by the entities named, and by their neighbours.

Every list is bounded and read in an order that is the same on every store: the newest facts and notes first. A word
with more matches than the bound counts as frequent; the rows that match it together with another word are then read
too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from ugs.facts.model import ENTITIES, ENTITY_ALIASES, FACTS, NOTES, Entity, Fact, Note
from ugs.facts.queries import NEWEST_FIRST, holds_at
from ugs.facts.resolution import find_entities, in_space
from ugs.facts.search_terms import Term
from ugs.facts.temporal.instants import Instant
from ugs.graph.model import NODES, Node
from ugs.graph.text.content_bodies import CONTENT_BODIES, ContentBody
from ugs.reads.filters import EVERYTHING, Everything, Has, Linked, Where, all_of, any_of, eq, in_
from ugs.reads.plan import Order, Page
from ugs.recall.question import Question
from ugs.storage import Session
from ugs.tables import Table

MAX_MATCHES = 256
"""Rows read per word and table."""
MAX_CONTENT_MATCHES = 24
"""Contents read per word: each may be large."""
MAX_ANCHORS = 8
FEW_FACTS = 32
"""With fewer facts found by words and names, those of the predicates named are read too."""
MAX_PREDICATES = 4
MAX_FACTS_PER_ANCHOR = 200
MAX_NEIGHBOURS = 50
NEWEST_NOTES = (Order("created_at", descending=True), Order("note_id", descending=True))
BY_NAME = (Order("canonical_norm"), Order("entity_id"))
BY_ID = (Order("id"),)
ENDINGS = ("", "s", "e", "es", "ed", "d", "ing")
"""Endings tried with the stem of a word in the index of nodes, which has whole words only."""


class Limits(Struct, frozen=True):
    """What the caller may see of facts and notes, and at which instant facts must hold."""

    visible: Where
    moment: Instant
    scopes: Where = EVERYTHING

    @property
    def facts(self) -> Where:
        return all_of(self.visible, self.scopes, holds_at(self.moment))

    @property
    def notes(self) -> Where:
        return all_of(self.visible, self.scopes)


class Candidate(Struct):
    """A row with the words it was found by."""

    row: Any
    terms: set[int] = field(default_factory=set)
    """Indexes into the terms of the question."""
    distance: int | None = None


class Candidates(Struct):
    """All rows found, by kind and id, and how many rows each word has."""

    facts: dict[str, Candidate] = field(default_factory=dict)
    notes: dict[str, Candidate] = field(default_factory=dict)
    nodes: dict[str, Candidate] = field(default_factory=dict)
    contents: dict[str, Candidate] = field(default_factory=dict)
    anchors: dict[str, Candidate] = field(default_factory=dict)
    """Entities that the question names wholly (distance 0) or by some words of their names (distance None)."""
    frequencies: dict[int, int] = field(default_factory=dict)
    truncated: bool = False


async def find_facts_and_anchors(session: Session, question: Question, space: Any, limits: Limits) -> Candidates:
    """Entities by name and words, and facts by words and around these entities."""
    found = Candidates()
    for entity in question.entities:
        found.anchors[entity.entity_id] = Candidate(entity, distance=0)
    await _find_entities(session, question, space, found)
    await _match(session, FACTS, question.terms, limits.facts, NEWEST_FIRST, "fact_id", found, found.facts)
    await _find_around(session, question, limits, found)
    if len(found.facts) < FEW_FACTS:
        await _find_by_predicate(session, question, limits, found)
    return found


async def _find_by_predicate(session: Session, question: Question, limits: Limits, found: Candidates) -> None:
    """The newest facts of the predicates that the question names."""
    matched = sorted(id for id, words in question.predicates.items() if any(t.grade(words) for t in question.terms))
    for id in matched[:MAX_PREDICATES]:
        where = all_of(eq("predicate_id", id), limits.facts)
        _add(await session.fetch(FACTS, where, NEWEST_FIRST, Page(MAX_MATCHES)), "fact_id", (), found.facts)


async def _find_entities(session: Session, question: Question, space: Any, found: Candidates) -> None:
    """Entities by words of their names or aliases."""
    matched: dict[str, Candidate] = {}
    where = in_space(space)
    await _match(session, ENTITIES, question.terms, where, BY_NAME, "entity_id", found, matched)
    named: dict[str, set[int]] = {}
    mine = EVERYTHING if isinstance(where, Everything) else Linked("entity", where)
    for number, term in enumerate(question.terms):
        rows = await session.fetch(ENTITY_ALIASES, all_of(Has(term.index_term), mine), page=Page(MAX_MATCHES))
        for row in rows:
            named.setdefault(row.entity_id, set()).add(number)
    others = await find_entities(session, sorted(named), space) if named else {}
    for id, entity in others.items():
        matched.setdefault(entity.entity_id, Candidate(entity)).terms |= named[id]
    for id, candidate in matched.items():
        known = found.anchors.setdefault(id, candidate)
        known.terms |= candidate.terms


async def _match(
    session: Session,
    table: Table,
    terms: Sequence[Term],
    where: Where,
    order: tuple[Order, ...],
    key: str,
    found: Candidates,
    into: dict[str, Candidate],
    wheres: Sequence[Where] | None = None,
    limit: int = MAX_MATCHES,
) -> None:
    """Add the rows that match each word; those of frequent words also together with each other word."""
    each = wheres if wheres is not None else [Has(term.index_term) for term in terms]
    frequent: list[int] = []
    for number, has in enumerate(each):
        rows = await session.fetch(table, all_of(has, where), order, Page(limit))
        found.frequencies[number] = found.frequencies.get(number, 0) + len(rows)
        if len(rows) == limit:
            frequent.append(number)
        _add(rows, key, (number,), into)
    found.truncated = found.truncated or bool(frequent)
    for number in frequent:
        for other in range(len(each)):
            if other != number and (other > number or other not in frequent):
                both = all_of(each[number], each[other], where)
                _add(await session.fetch(table, both, order, Page(limit)), key, (number, other), into)


def _add(rows: Iterable[Any], key: str, numbers: Iterable[int], into: dict[str, Candidate]) -> None:
    for row in rows:
        into.setdefault(getattr(row, key), Candidate(row)).terms.update(numbers)


async def _find_around(session: Session, question: Question, limits: Limits, found: Candidates) -> None:
    """Facts about the anchors, and about the entities that facts connect with those named."""
    wholly = [id for id, anchor in found.anchors.items() if anchor.distance == 0][:MAX_ANCHORS]
    partly = sorted(
        (id for id, anchor in found.anchors.items() if anchor.distance is None),
        key=lambda id: (-len(found.anchors[id].terms), found.anchors[id].row.canonical_norm, id),
    )[: MAX_ANCHORS - len(wholly)]
    near = await _facts_of(session, limits, wholly)
    _place(near, 0, found)
    _place(await _facts_of(session, limits, partly), None, found)
    ends = dict.fromkeys(id for fact in near for id in (fact.subject_entity_id, fact.object_entity_id) if id)
    neighbours = [id for id in ends if id not in found.anchors][:MAX_NEIGHBOURS]
    _place(await _facts_of(session, limits, sorted(neighbours), MAX_MATCHES // MAX_NEIGHBOURS), 1, found)


async def _facts_of(
    session: Session, limits: Limits, ids: Sequence[str], limit: int = MAX_FACTS_PER_ANCHOR
) -> list[Fact]:
    facts: dict[str, Fact] = {}
    for end in ("subject_entity_id", "object_entity_id"):
        if ids:
            where = all_of(in_(end, sorted(ids)), limits.facts)
            rows = await session.fetch(FACTS, where, NEWEST_FIRST, Page(limit=limit, per=end))
            facts |= {row.fact_id: row for row in rows}
    return list(facts.values())


def _place(facts: Iterable[Fact], distance: int | None, found: Candidates) -> None:
    for fact in facts:
        candidate = found.facts.setdefault(fact.fact_id, Candidate(fact))
        if candidate.distance is None:
            candidate.distance = distance


async def find_notes(session: Session, question: Question, limits: Limits, found: Candidates) -> None:
    await _match(session, NOTES, question.terms, limits.notes, NEWEST_NOTES, "note_id", found, found.notes)


async def find_nodes(session: Session, question: Question, found: Candidates, contents: bool, nodes: bool) -> None:
    """Nodes and contents that have a word of the question, or another ending of it."""
    wheres = [_any_ending(term) for term in question.terms]
    tables = set(await session.non_empty([NODES, CONTENT_BODIES]))
    if nodes and NODES in tables:
        await _match(session, NODES, question.terms, EVERYTHING, BY_ID, "id", found, found.nodes, wheres)
    if contents and CONTENT_BODIES in tables:
        limit = MAX_CONTENT_MATCHES
        await _match(
            session, CONTENT_BODIES, question.terms, EVERYTHING, BY_ID, "id", found, found.contents, wheres, limit
        )


def _any_ending(term: Term) -> Where:
    forms = dict.fromkeys([term.word, *(term.stem + ending for ending in ENDINGS)])
    return any_of(*(Has(form) for form in forms))


Row = Fact | Note | Node | ContentBody | Entity
