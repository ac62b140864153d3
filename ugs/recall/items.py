"""Candidates as scored items, with texts and evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ugs.facts.access import AccessScope
from ugs.facts.model import EVIDENCE, FACTS, NOTES, Entity, Fact, Note
from ugs.facts.queries import evidence_of
from ugs.facts.resolution import find_entities
from ugs.facts.search_terms import stemmed_words
from ugs.facts.temporal.instants import Instant, start_of
from ugs.reads.filters import all_of, in_
from ugs.recall.candidates import Candidate, Candidates, Limits
from ugs.recall.model import Quote, Reasons, RecallItem, RecallKind
from ugs.recall.question import Question
from ugs.recall.scoring import (
    FACT_POINTS,
    GRAPH_POINTS,
    Grades,
    best_grades,
    best_text,
    freshness_points,
    grades_of,
    rarities_of,
    shortlist,
    word_points,
)
from ugs.storage import Session
from ugs.vectors.texts import node_texts, passages

SHORTLIST = 96
"""Candidates of each kind that are scored in full."""
MAX_QUOTE_CHARS = 240
MAX_NODE_CHARS = 400
MAX_NOTES_PER_FACT = 4
QUOTE_GRADE = 2
"""The most that a word counts that occurs in the evidence of a fact only."""
SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


class Scorer(Struct):
    """What scoring needs to know about the question."""

    session: Session
    question: Question
    viewer: AccessScope
    limits: Limits
    now: Instant
    found: Candidates

    @property
    def rarities(self) -> list[int]:
        return rarities_of(self.question.terms, self.found.frequencies)

    def words(self, grades: Mapping[int, int]) -> list[str]:
        return [self.question.terms[number].word for number in sorted(grades)]

    # ── facts ────────────────────────────────────────────────────────────────

    async def facts(self) -> list[RecallItem]:
        """The best facts; those without a note that the reader may see are left out."""
        rarities = self.rarities
        terms = self.question.terms
        predicates = {name: grades_of(terms, words) for name, words in self.question.predicates.items()}
        points = {
            id(one): word_points(self._known_grades(one, predicates), rarities)
            + GRAPH_POINTS.get(-1 if one.distance is None else one.distance, 0)
            for one in self.found.facts.values()
        }
        chosen = shortlist(self.found.facts.values(), points, SHORTLIST)
        rows: list[Fact] = [one.row for one in chosen]
        ends = {end for row in rows for end in (row.subject_entity_id, row.object_entity_id) if end}
        entities = await find_entities(self.session, sorted(ends), None)
        quotes = await self._quotes(rows, entities)
        return [
            self._fact_item(one, entities, quotes[one.row.fact_id], predicates, rarities)
            for one in chosen
            if quotes[one.row.fact_id]
        ]

    def _known_grades(self, one: Candidate, predicates: Mapping[str, Grades]) -> Grades:
        """Grades that need no text: from the index, the predicate's names and the entities at the ends."""
        row: Fact = one.row
        terms = set(one.terms)
        for end in (row.subject_entity_id, row.object_entity_id):
            anchor = self.found.anchors.get(end or "")
            if anchor is not None:
                terms |= anchor.terms
        return best_grades(dict.fromkeys(terms, 2), predicates.get(row.predicate_id or "", {}))

    def _fact_item(
        self,
        one: Candidate,
        entities: Mapping[str, Entity],
        quotes: tuple[Quote, ...],
        predicates: Mapping[str, Grades],
        rarities: Sequence[int],
    ) -> RecallItem:
        row: Fact = one.row
        text = fact_text(row, entities)
        said = grades_of(self.question.terms, stemmed_words(" ".join(quote.text for quote in quotes)))
        grades = best_grades(
            grades_of(self.question.terms, stemmed_words(text)),
            self._known_grades(one, predicates),
            {number: min(grade, QUOTE_GRADE) for number, grade in said.items()},
        )
        reasons = Reasons(
            words=self.words(grades),
            word_points=word_points(grades, rarities) + FACT_POINTS,
            graph_points=0 if one.distance is None else GRAPH_POINTS.get(one.distance, 0),
            freshness_points=freshness_points(row.valid_from, self.now),
            distance=one.distance,
        )
        return RecallItem(
            RecallKind.FACT,
            row.fact_id,
            text,
            total_points(reasons),
            reasons,
            row.valid_from,
            row.valid_to,
            row.scope,
            quotes,
        )

    async def _quotes(self, rows: Sequence[Fact], entities: Mapping[str, Entity]) -> dict[str, tuple[Quote, ...]]:
        """By fact: the sentence that supports it best among its visible notes."""
        ids = [row.fact_id for row in rows]
        evidence = await evidence_of(self.session, self.viewer, ids, MAX_NOTES_PER_FACT)
        wanted = sorted({id for some in evidence.values() for id in some})
        notes = {note.note_id: note for note in await self.session.find_many(NOTES, wanted)} if wanted else {}
        return {row.fact_id: _best_quote(fact_text(row, entities), notes, evidence[row.fact_id]) for row in rows}

    # ── notes, passages, nodes ───────────────────────────────────────────────

    async def notes(self) -> list[RecallItem]:
        chosen = self._shortlist(self.found.notes)
        outdated = await self._outdated([one.row.note_id for one in chosen])
        return [self._note_item(one.row, one.row.note_id in outdated) for one in chosen]

    def _note_item(self, note: Note, outdated: bool) -> RecallItem:
        text, reasons = self._passage(list(passages(note.text)), note.created_at)
        reasons = replace(reasons, outdated=outdated)
        return RecallItem(
            RecallKind.NOTE,
            note.note_id,
            text,
            total_points(reasons),
            reasons,
            note.created_at,
            None,
            note.scope,
            note_id=note.note_id,
        )

    async def _outdated(self, ids: Sequence[str]) -> set[str]:
        """The notes that support visible facts of which none holds."""
        rows = await self.session.fetch(EVIDENCE, in_("note_id", sorted(ids))) if ids else []
        facts = sorted({row.fact_id for row in rows})
        if not facts:
            return set()
        among = in_("fact_id", facts)
        seen = {row.fact_id for row in await self.session.fetch(FACTS, all_of(among, self.limits.visible))}
        holding = {row.fact_id for row in await self.session.fetch(FACTS, all_of(among, self.limits.facts))}
        current = {row.note_id for row in rows if row.fact_id in holding}
        return {row.note_id for row in rows if row.fact_id in seen} - current

    def contents(self) -> list[RecallItem]:
        items = []
        for one in self._shortlist(self.found.contents):
            if one.row.folded is not None:
                text, reasons = self._passage(list(passages(one.row.body)), None)
                items.append(RecallItem(RecallKind.PASSAGE, one.row.id, text, total_points(reasons), reasons))
        return items

    def nodes(self) -> list[RecallItem]:
        items = []
        for one in self._shortlist(self.found.nodes):
            [text] = node_texts(one.row)
            short, reasons = self._passage([text[:MAX_NODE_CHARS]], start_of(one.row.modified))
            items.append(RecallItem(RecallKind.NODE, one.row.id, short, total_points(reasons), reasons))
        return items

    def _passage(self, texts: Sequence[str], begin: Instant | None) -> tuple[str, Reasons]:
        text, grades = best_text(self.question.terms, self.rarities, texts)
        fresh = 0 if begin is None else freshness_points(begin, self.now)
        reasons = Reasons(self.words(grades), word_points(grades, self.rarities), freshness_points=fresh)
        return text.strip(), reasons

    def _shortlist(self, some: Mapping[str, Candidate]) -> list[Candidate]:
        rarities = self.rarities
        points = {id(one): sum(rarities[number] for number in one.terms) for one in some.values()}
        return shortlist(some.values(), points, SHORTLIST)


def total_points(reasons: Reasons) -> int:
    """The score of an item."""
    points = reasons.word_points + reasons.likeness_points + reasons.graph_points + reasons.freshness_points
    return points // 2 if reasons.outdated else points


def with_likeness(item: RecallItem, points: int) -> RecallItem:
    """The item with the points for its likeness."""
    reasons = replace(item.reasons, likeness_points=points)
    return replace(item, reasons=reasons, score=total_points(reasons))


def fact_text(row: Fact, entities: Mapping[str, Entity]) -> str:
    """A fact as a short sentence: subject, predicate, object."""
    return f"{_name(row.subject_entity_id, entities)} {row.predicate.replace('_', ' ')} {_object(row, entities)}"


def _object(row: Fact, entities: Mapping[str, Entity]) -> str:
    return _name(row.object_entity_id, entities) if row.object_entity_id else row.object_value or ""


def _name(id: str, entities: Mapping[str, Entity]) -> str:
    found = entities.get(id)
    return id if found is None else found.canonical


def _best_quote(text: str, notes: Mapping[str, Any], ids: Sequence[str]) -> tuple[Quote, ...]:
    wanted = stemmed_words(text)
    stems = set(wanted.values())
    best: tuple[int, Quote] | None = None
    for id in ids:
        for sentence in SENTENCE_END.split(notes[id].text) if id in notes else ():
            count = len(stems & set(stemmed_words(sentence).values()))
            if sentence.strip() and (best is None or count > best[0]):
                best = (count, Quote(id, shorten(sentence.strip())))
    return () if best is None else (best[1],)


def shorten(text: str) -> str:
    """The beginning of a text that is too long for a quote, marked as such."""
    return text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1].rstrip() + "…"
