"""The timeline of a single-valued key: the facts of one subject and predicate, in one scope of a project. Private facts
of each agent form a separate timeline.

Rows follow the specification: a fact that has begun ends the open facts before it; a fact with an end, or in the
future, ends nothing. So the windows of rows may overlap. For readers at most one fact of a key holds at any instant,
the one that began last: where a later fact covers another, an `Override` records the span. Overrides are a pure
function of the rows of the key (`overrides_of`) and are updated with every change of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ugs.events import Draft
from ugs.facts.access import PRIVATE
from ugs.facts.errors import FactConflict
from ugs.facts.events import new_draft, to_payload
from ugs.facts.model import (
    FACTS,
    OVERRIDES,
    PREDICATES,
    SUPERSESSIONS,
    Fact,
    Override,
    Predicate,
    Supersession,
)
from ugs.facts.normalization import Space, new_id
from ugs.facts.temporal.instants import Instant, instant_text, start_of
from ugs.reads.filters import EVERYTHING, Where, all_of, eq, in_
from ugs.records import RowChange
from ugs.unit_of_work import UnitOfWork

Spans = list[tuple[Instant, Instant | None]]


class TimelinePosition(Struct, frozen=True):
    """The position of a new fact on its timeline, and its effect on the others."""

    known: Fact | None = None
    """An existing row that already states it; no new row is needed."""
    extended: Fact | None = None
    """The next row, which states the same and now begins earlier; no new row is needed."""
    ended: tuple[Fact, ...] = ()
    """Rows that end where the new fact begins."""
    successor: Fact | None = None
    """The row at whose begin the new fact ends."""


def key_of(fact: Fact) -> Where:
    """The condition for facts of the same key as this one."""
    return same_key_condition(
        Space(fact.tenant_id, fact.project_id),
        fact.scope,
        fact.agent_id,
        fact.subject_entity_id,
        fact.predicate_id or "",
    )


def same_key_condition(space: Space, scope: str, agent: str, subject_id: str, predicate_id: str) -> Where:
    """The condition for facts of one key: subject and predicate, in one scope of a project; for private facts, of one
    agent."""
    return all_of(
        EVERYTHING if scope != PRIVATE else eq("agent_id", agent),
        eq("subject_entity_id", subject_id),
        eq("predicate_id", predicate_id),
        eq("tenant_id", space.tenant),
        eq("project_id", space.project),
        eq("scope", scope),
    )


def same_object(one: Fact, other: Fact) -> bool:
    return (one.object_entity_id, one.object_value) == (other.object_entity_id, other.object_value)


def place_of(fact: Fact, rows: Sequence[Fact], has_begun: bool, reuse: bool) -> TimelinePosition:
    """Place an open fact of a single-valued predicate among the other facts of its key."""
    begins = fact.valid_from
    holding = [row for row in rows if row.holds_at(begins)]
    if reuse and (same := [row for row in holding if same_object(row, fact)]):
        return TimelinePosition(known=same[0])
    for row in holding:
        if row.valid_from == begins and not same_object(row, fact):
            raise FactConflict(
                row.fact_id, f"begins at the same instant, {instant_text(begins)}; one of them must be first"
            )
    ended = tuple(row for row in holding if row.valid_from < begins) if has_begun else ()
    later = sorted((row for row in rows if row.valid_from > begins), key=_begin_order)
    if later and reuse and same_object(later[0], fact):
        return TimelinePosition(extended=later[0], ended=ended)
    # The unique rule rejects a second open row with the same object, so this one must end before the later row.
    repeated = any(row.valid_to is None and same_object(row, fact) for row in later)
    return TimelinePosition(ended=ended, successor=later[0] if later and (has_begun or repeated) else None)


async def without_given_ends(uow: UnitOfWork, ended: Sequence[Fact]) -> tuple[Fact, ...]:
    """Those of the facts that may be ended: open ones, and ones that another fact has ended.

    A fact that was asserted with an end of its own is closed already and stays as it is; readers see an override.
    """
    return tuple([fact for fact in ended if fact.valid_to is None or await _link_at_end(uow, fact) is not None])


def _begin_order(fact: Fact) -> tuple[Instant, str]:
    return fact.valid_from, fact.fact_id


async def ending_drafts(uow: UnitOfWork, ended: Iterable[Fact], successor: Fact, note_id: str) -> list[Draft]:
    """The events that end facts where their successor begins; an existing link to a former successor is redirected."""
    at, now, drafts = successor.valid_from, start_of(uow.now), []
    for row in ended:
        data = {"fact_id": row.fact_id, "valid_to": at, "updated_at": now}
        drafts.append(Draft("FactInvalidated", row.fact_id, to_payload(data)))
        former = await _link_at_end(uow, row)
        link = _link(row, successor, note_id, at, now)
        if former is not None:
            link = replace(link, supersession_id=former.supersession_id)
        drafts.append(new_draft(uow, SUPERSESSIONS, link) if former is None else _put_link(link))
    return drafts


def link_draft(uow: UnitOfWork, old: Fact, new: Fact, note_id: str, at: Instant) -> Draft:
    """The event that links a fact with its successor."""
    return new_draft(uow, SUPERSESSIONS, _link(old, new, note_id, at, start_of(uow.now)))


def _link(old: Fact, new: Fact, note_id: str, at: Instant, now: Instant) -> Supersession:
    return Supersession(new_id(), old.tenant_id, old.project_id, old.fact_id, new.fact_id, note_id, at, now)


def _put_link(link: Supersession) -> Draft:
    return Draft("FactSuperseded", link.from_fact_id, to_payload({n: getattr(link, n) for n in link.__struct_fields__}))


async def _link_at_end(uow: UnitOfWork, fact: Fact) -> Supersession | None:
    """The supersession that caused a fact's current end."""
    if fact.valid_to is None:
        return None
    links = await uow.fetch(SUPERSESSIONS, eq("from_fact_id", fact.fact_id))
    return next((link for link in links if link.effective_at == fact.valid_to), None)


# ── overrides ────────────────────────────────────────────────────────────────


def overrides_of(rows: Iterable[Fact]) -> dict[str, Spans]:
    """The spans of each fact of a key that are covered by later facts."""
    ordered = sorted(rows, key=_begin_order)
    found: dict[str, Spans] = {}
    for index, fact in enumerate(ordered):
        spans: Spans = []
        for later in ordered[index + 1 :]:
            if fact.valid_to is not None and later.valid_from >= fact.valid_to:
                break
            _add_span(spans, later.valid_from, later.valid_to)
        if spans:
            found[fact.fact_id] = spans
    return found


def _add_span(spans: Spans, begin: Instant, end: Instant | None) -> None:
    """Add a span that begins no earlier than the others; touching spans are merged."""
    if spans:
        last_begin, last_end = spans[-1]
        if last_end is None:
            return
        if begin <= last_end:
            spans[-1] = (last_begin, None if end is None else max(end, last_end))
            return
    spans.append((begin, end))


def is_overridden(spans: Iterable[Override], moment: Instant) -> bool:
    """Whether the overrides cover an instant."""
    return any(span.valid_from <= moment and (span.valid_to is None or span.valid_to > moment) for span in spans)


def state_of(fact: Fact, spans: Iterable[Override], moment: Instant) -> str:
    """`current`, `historical` or `future` relative to an instant, taking the fact's overrides into account."""
    state = fact.state_at(moment)
    return "historical" if state == "current" and is_overridden(spans, moment) else state


async def refresh_overrides(uow: UnitOfWork, rows: Sequence[Fact]) -> None:
    """Update the overrides of the facts of one key to match their windows."""
    if len(rows) == 1 and uow.is_new(FACTS, rows[0].fact_id):
        return
    await _stage_spans(uow, rows, overrides_of(rows))


async def drop_overrides(uow: UnitOfWork, facts: Sequence[Fact]) -> None:
    """Remove the overrides of these facts, so that only their own windows count."""
    await _stage_spans(uow, facts, {})


async def _stage_spans(uow: UnitOfWork, rows: Sequence[Fact], wanted: dict[str, Spans]) -> None:
    if not rows:
        return
    stored = await _stored_spans(uow, rows)
    for row in rows:
        spans = wanted.get(row.fact_id, [])
        if spans != stored.get(row.fact_id, []):
            told_spans = [to_payload({"valid_from": begin, "valid_to": end}) for begin, end in spans]
            data = {"fact_id": row.fact_id, "spans": told_spans}
            await uow.stage([Draft("FactOverridden", row.fact_id, data)])


async def _stored_spans(uow: UnitOfWork, rows: Sequence[Fact]) -> dict[str, Spans]:
    found: dict[str, Spans] = {}
    ids = sorted(row.fact_id for row in rows)
    for span in sorted(await uow.fetch(OVERRIDES, in_("fact_id", ids)), key=lambda one: one.valid_from):
        found.setdefault(span.fact_id, []).append((span.valid_from, span.valid_to))
    return found


async def refresh_restored(uow: UnitOfWork, rows: Sequence[RowChange]) -> None:
    """Update the overrides of the single-valued keys of facts that an undo has restored or taken away."""
    facts = [fact for row in rows if row.table is FACTS for fact in (row.before, row.after) if fact is not None]
    known = {fact.predicate_id: await uow.find(PREDICATES, fact.predicate_id) for fact in facts if fact.predicate_id}
    for where in dict.fromkeys(key_of(fact) for fact in facts):
        same_key = await uow.fetch(FACTS, where)
        predicate = known.get(same_key[0].predicate_id) if same_key else None
        if predicate is not None and predicate.supersedes:
            await refresh_overrides(uow, same_key)


# ── deletion ─────────────────────────────────────────────────────────────────


async def delete_facts(uow: UnitOfWork, facts: Sequence[Fact], reopen: bool = True) -> None:
    """Delete facts as if they had never been asserted: facts they ended are extended to the next one of their key, or
    stay ended without `reopen`."""
    gone = {fact.fact_id for fact in facts}
    ended = [link for fact in facts for link in await uow.fetch(SUPERSESSIONS, eq("to_fact_id", fact.fact_id))]
    onward = {fact.fact_id: await _link_at_end(uow, fact) for fact in facts}
    for fact in facts:
        links = {link.from_fact_id for link in ended if link.to_fact_id == fact.fact_id} - gone
        await uow.stage(unlink_drafts(sorted(links), fact.fact_id))
        await uow.stage([Draft("FactDeleted", fact.fact_id, {"fact_id": fact.fact_id})])
    for link in ended if reopen else ():
        before: Fact | None = await uow.find(FACTS, link.from_fact_id)
        if before is not None and before.fact_id not in gone and before.valid_to == link.effective_at:
            after = onward[link.to_fact_id]
            await _continue(uow, before, link.note_id if after is None else after.note_id)
    for fact in facts:
        predicate = await uow.find(PREDICATES, fact.predicate_id or "")
        if predicate is not None and predicate.supersedes:
            await refresh_overrides(uow, await uow.fetch(FACTS, key_of(fact)))


def unlink_drafts(from_ids: Iterable[str], to_id: str) -> list[Draft]:
    """The events that remove the links of facts to one that goes."""
    return [Draft("FactUnlinked", id, {"fact_id": id, "to_fact_id": to_id}) for id in from_ids]


async def _continue(uow: UnitOfWork, fact: Fact, note_id: str) -> None:
    """Extend a fact to the begin of the next one of its key, or reopen it if there is none."""
    others = [row for row in await uow.fetch(FACTS, key_of(fact)) if row.fact_id != fact.fact_id]
    predicate: Predicate | None = await uow.find(PREDICATES, fact.predicate_id or "")
    single = predicate is not None and predicate.supersedes
    later = [row for row in others if fact.valid_to is not None and row.valid_from >= fact.valid_to]
    successor = min(later, key=_begin_order) if single and later else None
    if successor is None and any(row.valid_to is None and same_object(row, fact) for row in others):
        return
    end = None if successor is None else successor.valid_from
    data = {"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(uow.now)}
    await uow.stage([Draft("FactReopened", fact.fact_id, to_payload(data))])
    if successor is not None:
        await uow.stage([link_draft(uow, fact, successor, note_id, successor.valid_from)])
