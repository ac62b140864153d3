"""The Python API of recall."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.model import EVIDENCE, FACTS
from ugs.facts.reader import FactsReader, Moment
from ugs.facts.temporal.instants import Instant, instant_of
from ugs.identity import LOCAL, Principal
from ugs.reads.filters import EVERYTHING, all_of, in_
from ugs.reads.vector_search import least_score
from ugs.recall.candidates import Candidate, Candidates, Limits, find_facts_and_anchors, find_nodes, find_notes
from ugs.recall.items import Scorer, with_likeness
from ugs.recall.model import RecallItem, RecallKind, RecallResult
from ugs.recall.question import Question, parse_question
from ugs.recall.scoring import likeness_points
from ugs.recall.token_budget import fit_budget
from ugs.storage import Session
from ugs.values import check_value
from ugs.vectors.embedders import Embedder
from ugs.vectors.index_maintenance import embed_texts
from ugs.vectors.model import NOTE_VECTORS
from ugs.vectors.similarity_search import SimilaritySearch

if TYPE_CHECKING:
    from ugs.log.at import At
    from ugs.system import System

DEFAULT_BUDGET_TOKENS = 2_000
MAX_BUDGET_TOKENS = 100_000
DEFAULT_FIRST = 20
MAX_FIRST = 100
MAX_QUERY_CHARS = 4_000
MAX_SCOPES = 32
RERANKED = 32
"""Items whose likeness to the question is computed."""
FEW_CANDIDATES = 8
"""With fewer facts and notes found by words and names, similar notes are searched for."""
MAX_SIMILAR_NOTES = 16
KIND_ORDER = {kind: place for place, kind in enumerate(RecallKind)}


class RecallRequest(Struct, frozen=True):
    """The checked parameters of a recall."""

    query: str
    budget_tokens: int
    moment: Instant
    scopes: Sequence[str] | None = None
    kinds: Collection[RecallKind] = frozenset(RecallKind)
    first: int = DEFAULT_FIRST
    likeness: bool = True


class Recall:
    """Recall for one principal, in the principal's own project."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.system = system
        self.facts = FactsReader(system, principal)

    async def recall(
        self,
        query: str,
        budget_tokens: int = DEFAULT_BUDGET_TOKENS,
        as_of: Moment | None = None,
        at: At | None = None,
        scopes: Sequence[str] | None = None,
        kinds: Collection[RecallKind] | None = None,
        first: int = DEFAULT_FIRST,
        likeness: bool = True,
    ) -> RecallResult:
        """What answers a question, best first, within a budget.

        Facts hold at `as_of` (default: now) as recorded at `at`. Without `likeness` no embedder is used.
        """
        _check_arguments(query, budget_tokens, scopes, first)
        moment = await self.facts.now(at) if as_of is None else instant_of(as_of, "asOf")
        wanted = frozenset(RecallKind) if kinds is None else frozenset(kinds)
        request = RecallRequest(query, budget_tokens, moment, scopes, wanted, first, likeness)
        async with self.facts.known(at) as session:
            return await self.recall_in(session, request)

    async def recall_in(self, session: Session, request: RecallRequest) -> RecallResult:
        """Answer a checked request in a session."""
        space, viewer = self.facts.space(), self.facts.viewer
        scoped = EVERYTHING if request.scopes is None else in_("scope", sorted(set(request.scopes)))
        limits = Limits(all_of(viewer.within(space), viewer.exclude_private), request.moment, scoped)
        question = await parse_question(session, space, request.query)
        similar = self.system.vectors.likeness(session) if request.likeness else None
        found = await self._find(session, question, limits, request.kinds, similar)
        items = await _score(Scorer(session, question, viewer, limits, request.moment, found), request.kinds)
        ranked = await _rank(items, request.query, None if similar is None else similar.embedder)
        chosen, tokens = fit_budget(ranked, request.budget_tokens, request.first)
        omitted = len(ranked) - len(chosen)
        return RecallResult(
            chosen, question.entities, request.moment, tokens, request.budget_tokens, omitted, found.truncated
        )

    async def _find(
        self,
        session: Session,
        question: Question,
        limits: Limits,
        kinds: Collection[RecallKind],
        similar: SimilaritySearch | None,
    ) -> Candidates:
        found = await find_facts_and_anchors(session, question, self.facts.space(), limits)
        if RecallKind.NOTE in kinds:
            await find_notes(session, question, limits, found)
        if similar is not None and len(found.facts) + len(found.notes) < FEW_CANDIDATES:
            await _find_similar(similar, question, limits, found)
        contents, nodes = RecallKind.PASSAGE in kinds, RecallKind.NODE in kinds
        if contents or nodes:
            await find_nodes(session, question, found, contents, nodes)
        return found


def _check_arguments(query: str, budget: int, scopes: Sequence[str] | None, first: int) -> None:
    check_value(query, "query")
    if not query.strip():
        raise InvalidSyntax("query must not be blank")
    if len(query) > MAX_QUERY_CHARS:
        raise LimitExceeded(f"query has at most {MAX_QUERY_CHARS} characters", limit=MAX_QUERY_CHARS)
    if not 1 <= budget <= MAX_BUDGET_TOKENS:
        raise LimitExceeded(f"budgetTokens lies between 1 and {MAX_BUDGET_TOKENS}", limit=MAX_BUDGET_TOKENS)
    if not 1 <= first <= MAX_FIRST:
        raise LimitExceeded(f"first lies between 1 and {MAX_FIRST}", limit=MAX_FIRST)
    if scopes is not None and len(scopes) > MAX_SCOPES:
        raise LimitExceeded(f"there are at most {MAX_SCOPES} scopes", limit=MAX_SCOPES)


async def _find_similar(similar: SimilaritySearch, question: Question, limits: Limits, found: Candidates) -> None:
    """Add the notes most similar to the question, and the facts they support."""
    (vector,) = await embed_texts(similar.embedder, [question.text])
    if vector is None:
        return
    least = least_score(similar.embedder.related)
    scored = await similar.search(NOTE_VECTORS, vector, MAX_SIMILAR_NOTES, least, limits.notes)
    ids = sorted({one.row.id for one in scored})
    if not ids:
        return
    session = similar.session
    for note in await session.find_many(NOTE_VECTORS.table, ids):
        found.notes.setdefault(note.note_id, Candidate(note))
    facts = sorted({row.fact_id for row in await session.fetch(EVIDENCE, in_("note_id", ids))})
    for fact in await session.fetch(FACTS, all_of(in_("fact_id", facts), limits.facts)) if facts else []:
        found.facts.setdefault(fact.fact_id, Candidate(fact))


async def _score(scorer: Scorer, kinds: Collection[RecallKind]) -> list[RecallItem]:
    items: list[RecallItem] = []
    if RecallKind.FACT in kinds:
        items += await scorer.facts()
    if RecallKind.NOTE in kinds:
        items += await scorer.notes()
    if RecallKind.PASSAGE in kinds:
        items += scorer.contents()
    if RecallKind.NODE in kinds:
        items += scorer.nodes()
    return items


async def _rank(items: list[RecallItem], query: str, embedder: Embedder | None) -> list[RecallItem]:
    """The items best first; a note that a better fact quotes wholly is left out."""
    ranked = sorted(items, key=_place)
    if embedder is not None and ranked:
        head, tail = ranked[:RERANKED], ranked[RERANKED:]
        points = await likeness_points(embedder, query, [item.text for item in head])
        ranked = sorted([*map(with_likeness, head, points), *tail], key=_place)
    quoted: set[tuple[str, str]] = set()
    distinct: list[RecallItem] = []
    for item in ranked:
        if item.note_id is None or (item.note_id, item.text) not in quoted:
            distinct.append(item)
        quoted.update((quote.note_id, quote.text) for quote in item.evidence)
    return [item for item in distinct if item.score > 0]


def _place(item: RecallItem) -> tuple[int, int, int, str]:
    return -item.score, KIND_ORDER[item.kind], -(item.valid_from or 0), item.id
