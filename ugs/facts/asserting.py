"""Commands about facts: assert, end, delete.

A fact is never edited. Saying again what is already known adds evidence. A newer fact of an active, single-valued
predicate closes the older ones, and the note that caused it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ugs.desk import Desk
from ugs.events import Draft
from ugs.facts.entities import ensure_ref
from ugs.facts.errors import EvidenceRequired, FactConflict, InvalidFact
from ugs.facts.events import new_draft, told
from ugs.facts.instants import Instant, end_of, instant_text, start_of
from ugs.facts.model import (
    DEPRECATED,
    ENTITIES,
    EVIDENCE,
    FACTS,
    SUPERSESSIONS,
    Evidence,
    Fact,
    Note,
    Predicate,
    Supersession,
)
from ugs.facts.names import Space, checked_id, checked_note, checked_space, checked_value, display_name, new_id
from ugs.facts.notes import AddNote, ensure_note
from ugs.facts.predicates import ensure_predicate
from ugs.facts.resolving import EntityRef, get_fact, get_note
from ugs.feature import Command, Decider, Decision, Warned
from ugs.reads.where import Where, all_of, eq, in_

A_SECOND: Instant = 1_000_000
ALREADY_KNOWN, IS_DEPRECATED, OVERLAPS = "W101", "W102", "W103"


class NoteRef(Struct, frozen=True):
    """A note by its id, or a new one by its text."""

    id: str | None = None
    text: str | None = None
    source: str | None = None


class AddFact(Command, frozen=True):
    """Assert a fact, with the notes that say so. Without `valid_from` it holds from now on."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    subject: EntityRef
    predicate: str
    object_entity: EntityRef | None = None
    object_value: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    notes: tuple[NoteRef, ...] = ()
    reuse: bool = True
    """False inserts without looking for an equal fact; the store's unique rule then refuses a second open one."""


class InvalidateFact(Command, frozen=True):
    """End a fact at an instant, now unless told."""

    fact_id: str
    valid_to: Instant | None = None
    reason: str | None = None
    space: Space | None = None


class DeleteFact(Command, frozen=True):
    """Forget a fact with its evidence, as if it had never been said; the log still knows."""

    fact_id: str
    space: Space | None = None


class Asserted(Struct, frozen=True):
    """What came of an assertion."""

    fact: Fact
    warnings: list[Warned]


async def add_fact(command: AddFact, desk: Desk) -> Decision:
    """Decide about an assertion."""
    return Decision([], (await assert_fact(command, desk)).warnings)


async def assert_fact(command: AddFact, desk: Desk, position: int = 0) -> Asserted:
    """Put a fact on the desk, or more evidence for one that is known; `position` orders those of one request."""
    space = checked_space(command.tenant_id, command.project_id)
    _check_shape(command)
    asked = await _asked(command, desk, space, position)
    predicate = await ensure_predicate(desk, space, command.predicate)
    fact = await _with_ends(asked, command, desk, space, predicate)
    notes = [await _note(desk, command, ref) for ref in command.notes]
    if desk.is_new(ENTITIES, fact.subject_entity_id):
        # What the store does not know, it knows no facts about.
        desk.know(FACTS, key_of(fact), [])
    same_key = await desk.fetch(FACTS, key_of(fact))
    known = _equivalent(fact, same_key, end_of(desk.now)) if command.reuse else None
    warnings = [_deprecated(predicate)] if predicate.status == DEPRECATED else []
    if known is None:
        # An open fact that says the same is no rival: the store's unique rule refuses the second one.
        rivals = [row for row in same_key if row.valid_to is not None or not _same_object(row, fact)]
        fact, drafts = _among(rivals, command, predicate, fact, notes[0], desk)
        known = _covering(fact, same_key) if command.reuse and command.valid_to != fact.valid_to else None
    if known is None:
        await desk.stage([new_draft(desk, FACTS, fact), *drafts])
        warnings += _overlaps(fact, rivals) if predicate.supersedes else []
        # Nothing in the store can be evidence of a fact that is new.
        desk.know(EVIDENCE, _evidence_among(fact, notes), [])
    added = await _add_evidence(desk, known or fact, notes)
    if known is not None and not added:
        warnings.append(Warned(ALREADY_KNOWN, "the fact and its evidence were known already", known.fact_id))
    return Asserted(known or fact, warnings)


def _check_shape(command: AddFact) -> None:
    if (command.object_entity is None) == (command.object_value is None):
        raise InvalidFact("a fact has exactly one object: an entity or a value", field="object")
    if not command.notes:
        raise EvidenceRequired()


async def _asked(command: AddFact, desk: Desk, space: Space, position: int) -> Fact:
    """The fact as it was asked for, its ends still open."""
    now = start_of(desk.now)
    begins = now + position if command.valid_from is None else command.valid_from
    if command.valid_to is not None and command.valid_to <= begins:
        raise InvalidFact(
            f"a fact ends after it begins: validTo {instant_text(command.valid_to)} is not after "
            f"validFrom {instant_text(begins)}",
            field="validTo",
        )
    return Fact(
        fact_id=new_id(),
        tenant_id=space.tenant,
        project_id=space.project,
        agent_id=checked_id(command.agent_id, "agentId"),
        scope=checked_id(command.scope, "scope"),
        subject_entity_id="",
        predicate=display_name(command.predicate, "predicate"),
        predicate_id=None,
        object_entity_id=None,
        object_value=None if command.object_value is None else checked_value(command.object_value),
        valid_from=begins,
        valid_to=command.valid_to,
        created_at=now,
        updated_at=now,
    )


async def _with_ends(fact: Fact, command: AddFact, desk: Desk, space: Space, predicate: Predicate) -> Fact:
    subject = await ensure_ref(desk, space, command.subject)
    object = None if command.object_entity is None else await ensure_ref(desk, space, command.object_entity)
    return _replaced(
        fact,
        subject_entity_id=subject.entity_id,
        predicate_id=predicate.predicate_id,
        object_entity_id=None if object is None else object.entity_id,
    )


def _replaced(fact: Fact, **changes: object) -> Fact:
    values = {name: getattr(fact, name) for name in fact.__struct_fields__}
    return Fact(**(values | changes))


async def _note(desk: Desk, command: AddFact, ref: NoteRef) -> Note:
    if ref.id is None and ref.text is None:
        raise InvalidFact("a note is named by its id, or given as text", field="notes")
    space = Space(command.tenant_id, command.project_id)
    if ref.text is None:
        return await get_note(desk, ref.id or "", space)
    new = AddNote(
        tenant_id=command.tenant_id,
        project_id=command.project_id,
        agent_id=command.agent_id,
        scope=command.scope,
        text=checked_note(ref.text, "notes.text"),
        source=ref.source,
        note_id=ref.id,
    )
    return await ensure_note(desk, new)


def key_of(fact: Fact) -> Where:
    """Facts about the same matter as this one."""
    return same_matter(
        Space(fact.tenant_id, fact.project_id), fact.scope, fact.subject_entity_id, fact.predicate_id or ""
    )


def same_matter(space: Space, scope: str, subject_id: str, predicate_id: str) -> Where:
    """Facts about one matter: subject and predicate, in one scope of a project."""
    return all_of(
        eq("subject_entity_id", subject_id),
        eq("predicate_id", predicate_id),
        eq("tenant_id", space.tenant),
        eq("project_id", space.project),
        eq("scope", scope),
    )


def _same_object(one: Fact, other: Fact) -> bool:
    return (one.object_entity_id, one.object_value) == (other.object_entity_id, other.object_value)


def _equivalent(fact: Fact, same_key: list[Fact], now: Instant) -> Fact | None:
    """A known fact that says the same, so that a second row would be a duplicate (C-61)."""
    same = [row for row in same_key if _same_object(row, fact)]
    if fact.valid_to is None:
        known = [row for row in same if row.valid_to is None] or [row for row in same if row.holds_at(now)]
    elif fact.holds_at(now):
        known = [row for row in same if row.holds_at(now)]
    else:
        known = [row for row in same if (row.valid_from, row.valid_to) == (fact.valid_from, fact.valid_to)]
    return known[0] if known else None


def _deprecated(predicate: Predicate) -> Warned:
    return Warned(IS_DEPRECATED, f"the predicate {predicate.canonical!r} is deprecated", predicate.predicate_id)


def _among(
    rivals: list[Fact], command: AddFact, predicate: Predicate, fact: Fact, note: Note, desk: Desk
) -> tuple[Fact, list[Draft]]:
    """The fact in its place among others, which of a single-valued predicate that is active make room for it."""
    is_now = command.valid_from is None
    if is_now and predicate.supersedes:
        fact = _after_those_of_now(fact, rivals)
    if predicate.supersedes and fact.valid_to is None and (is_now or fact.valid_from <= end_of(desk.now)):
        return _placed(fact, rivals, note, desk)
    return fact, []


def _covering(fact: Fact, same_key: list[Fact]) -> Fact | None:
    """A known fact that has said all along what this one, once it has found its place in history, would say."""
    end = fact.valid_to
    return next(
        (
            row
            for row in same_key
            if _same_object(row, fact) and row.valid_from <= fact.valid_from and end and (row.valid_to or end) >= end
        ),
        None,
    )


def _after_those_of_now(fact: Fact, rivals: list[Fact]) -> Fact:
    """Several changes in one millisecond keep their order, a microsecond apart."""
    begun = [row.valid_from for row in rivals if 0 <= row.valid_from - fact.valid_from < A_SECOND]
    if not begun:
        return fact
    begins = max(begun) + 1
    if fact.valid_to is not None and fact.valid_to <= begins:
        return fact
    return _replaced(fact, valid_from=begins)


def _placed(fact: Fact, rivals: list[Fact], note: Note, desk: Desk) -> tuple[Fact, list[Draft]]:
    """Close what the fact replaces; what began later bounds the fact itself, which then is history (C-62)."""
    drafts: list[Draft] = []
    open_rivals = [row for row in rivals if row.valid_to is None]
    for row in open_rivals:
        if row.valid_from == fact.valid_from:
            raise FactConflict(
                row.fact_id, f"begins at the same instant, {instant_text(fact.valid_from)}; one of them must be first"
            )
        if row.valid_from < fact.valid_from:
            drafts += [_closing(row, fact.valid_from, desk), _link(row, fact, note, fact.valid_from, desk)]
    if any(row.valid_from > fact.valid_from for row in open_rivals):
        later = min((row for row in rivals if row.valid_from > fact.valid_from), key=lambda row: row.valid_from)
        fact = _replaced(fact, valid_to=later.valid_from)
        drafts.append(_link(fact, later, note, later.valid_from, desk))
    return fact, drafts


def _closing(fact: Fact, end: Instant, desk: Desk) -> Draft:
    data = {"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(desk.now)}
    return Draft("FactInvalidated", fact.fact_id, told(data))


def _link(old: Fact, new: Fact, note: Note, at: Instant, desk: Desk) -> Draft:
    row = Supersession(
        new_id(), old.tenant_id, old.project_id, old.fact_id, new.fact_id, note.note_id, at, start_of(desk.now)
    )
    return new_draft(desk, SUPERSESSIONS, row)


def _overlaps(fact: Fact, rivals: list[Fact]) -> list[Warned]:
    """Ended facts stay as they are, so history may be loaded across them; whoever does it should know."""
    return [
        Warned(OVERLAPS, f"holds at the same time as the ended fact {row.fact_id}", row.fact_id)
        for row in rivals
        if row.valid_to is not None
        and row.valid_to > fact.valid_from
        and (fact.valid_to is None or row.valid_from < fact.valid_to)
    ]


def _evidence_among(fact: Fact, notes: list[Note]) -> Where:
    return all_of(eq("fact_id", fact.fact_id), in_("note_id", dict.fromkeys(note.note_id for note in notes)))


async def _add_evidence(desk: Desk, fact: Fact, notes: list[Note]) -> int:
    """One row for each note that is not evidence of the fact yet."""
    known = {row.note_id for row in await desk.fetch(EVIDENCE, _evidence_among(fact, notes))}
    fresh = [note_id for note_id in dict.fromkeys(note.note_id for note in notes) if note_id not in known]
    rows = [Evidence(new_id(), fact.fact_id, note_id, start_of(desk.now)) for note_id in fresh]
    await desk.stage([new_draft(desk, EVIDENCE, row) for row in rows])
    return len(rows)


async def invalidate_fact(command: InvalidateFact, desk: Desk) -> Decision:
    """Decide about the end of a fact; one that has ended stays as it is."""
    fact = await get_fact(desk, command.fact_id, command.space)
    end = max(end_of(desk.now), fact.valid_from + 1) if command.valid_to is None else command.valid_to
    if end <= fact.valid_from:
        raise InvalidFact(
            f"the fact begins at {instant_text(fact.valid_from)} and cannot end at {instant_text(end)}", field="validTo"
        )
    if fact.valid_to is not None and fact.valid_to <= end:
        raise FactConflict(fact.fact_id, f"has ended at {instant_text(fact.valid_to)} already")
    data = told({"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(desk.now)})
    if command.reason is not None:
        data["reason"] = display_name(command.reason, "reason")
    return Decision([Draft("FactInvalidated", fact.fact_id, data)])


async def delete_fact(command: DeleteFact, desk: Desk) -> Decision:
    """Decide about forgetting a fact."""
    fact = await get_fact(desk, command.fact_id, command.space)
    return Decision([Draft("FactDeleted", fact.fact_id, {"fact_id": fact.fact_id})])


DECIDERS: Mapping[type[Command], Decider] = {
    AddFact: add_fact,
    InvalidateFact: invalidate_fact,
    DeleteFact: delete_fact,
}
