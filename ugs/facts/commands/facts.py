"""Commands about facts: assert, end, delete.

The content of a fact is never edited. Asserting a known fact again adds evidence, and may move its begin earlier. Facts
of an active, single-valued predicate form one timeline (`ugs.facts.temporal.timeline`); the note that caused a change
is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ugs.events import Draft
from ugs.facts.access import AccessScope
from ugs.facts.commands.entities import ensure_ref
from ugs.facts.commands.notes import AddNote, ensure_note
from ugs.facts.commands.predicates import ensure_predicate
from ugs.facts.errors import EvidenceRequired, FactConflict, FactNotFound, InvalidFact
from ugs.facts.events import new_draft, to_payload
from ugs.facts.model import (
    DEPRECATED,
    ENTITIES,
    EVIDENCE,
    FACTS,
    PREDICATES,
    Evidence,
    Fact,
    Note,
    Predicate,
)
from ugs.facts.normalization import (
    Space,
    display_name,
    new_id,
    validate_id,
    validate_note,
    validate_space,
    validate_value,
)
from ugs.facts.resolution import EntityRef, get_fact, get_note
from ugs.facts.temporal.instants import Instant, end_of, instant_text, start_of
from ugs.facts.temporal.timeline import (
    TimelinePosition,
    delete_facts,
    ending_drafts,
    key_of,
    link_draft,
    place_of,
    refresh_overrides,
    same_object,
    without_given_ends,
)
from ugs.feature import Command, CommandWarning, Decider, Decision
from ugs.reads.filters import Where, all_of, eq, in_
from ugs.unit_of_work import UnitOfWork

ONE_SECOND_MICROSECONDS: Instant = 1_000_000
ALREADY_KNOWN, IS_DEPRECATED, OVERLAPS, EXTENDED = "W101", "W102", "W103", "W104"


class NoteRef(Struct, frozen=True):
    """A note by its id, or a new one by its text."""

    id: str | None = None
    text: str | None = None
    source: str | None = None


class AddFact(Command, frozen=True):
    """Assert a fact, with the notes that state it. Without `valid_from` it holds from now on."""

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
    """False inserts without checking for an equal fact; the unique rule of the table then rejects a second open one."""


class InvalidateFact(Command, frozen=True):
    """End a fact at an instant (default: now)."""

    fact_id: str
    valid_to: Instant | None = None
    reason: str | None = None
    space: Space | None = None


class DeleteFact(Command, frozen=True):
    """Delete a fact with its evidence, as if it had never been asserted; the log keeps its events."""

    fact_id: str
    space: Space | None = None
    reopen: bool = True
    """Whether the facts that it had ended hold again, until the next one of their timeline begins."""


class CorrectFact(Command, frozen=True):
    """End a fact, put another object in its place, or retract it as never true; always with a reason."""

    fact_id: str
    action: str
    """`end`, `replace` or `retract`."""
    reason: str
    agent_id: str
    """Who states the reason of a replacement."""
    object_entity: EntityRef | None = None
    object_value: str | None = None
    moment: Instant | None = None
    """When it ended, or when its replacement begins; now without one."""
    reopen: bool = True
    space: Space | None = None


class AssertionResult(Struct, frozen=True):
    """The result of an assertion."""

    fact: Fact
    warnings: list[CommandWarning]


async def add_fact(command: AddFact, uow: UnitOfWork) -> Decision:
    """Decide an assertion."""
    return Decision([], (await assert_fact(command, uow)).warnings)


async def assert_fact(command: AddFact, uow: UnitOfWork, position: int = 0) -> AssertionResult:
    """Stage a new fact, or more evidence for a known one; `position` orders the facts of one request."""
    space = validate_space(command.tenant_id, command.project_id)
    _check_shape(command)
    asked = await _requested_fact(command, uow, space, position)
    predicate = await ensure_predicate(uow, space, command.predicate)
    fact = await _resolve_ends(asked, command, uow, space, predicate)
    notes = [await _note(uow, command, ref) for ref in command.notes]
    if uow.is_new(ENTITIES, fact.subject_entity_id):
        # The store has no facts about a new entity, so no fetch is needed.
        uow.cache_rows(FACTS, key_of(fact), [])
    same_key = await uow.fetch(FACTS, key_of(fact))
    warnings = [_deprecated(predicate)] if predicate.status == DEPRECATED else []
    if predicate.supersedes and command.valid_from is None:
        fact = _order_after_rivals(fact, [row for row in same_key if not same_object(row, fact)])
    place = _place(command, fact, predicate, same_key, end_of(uow.now))
    if place.ended:
        place = replace(place, ended=await without_given_ends(uow, place.ended))
    kept = place.known or place.extended
    if kept is None:
        kept = await _insert(uow, fact, place, notes)
        warnings += _overlaps(kept, [row for row in same_key if row not in place.ended]) if predicate.supersedes else []
    elif fact.valid_from < kept.valid_from:
        warnings.append(await _extend(uow, kept, fact.valid_from))
        kept = _replaced(kept, valid_from=fact.valid_from)
        await uow.stage(await ending_drafts(uow, place.ended, kept, notes[0].note_id))
    if predicate.supersedes and kept is not place.known:
        await refresh_overrides(uow, await uow.fetch(FACTS, key_of(fact)))
    if not await _add_evidence(uow, kept, notes) and kept is place.known:
        warnings.append(CommandWarning(ALREADY_KNOWN, "the fact and its evidence were known already", kept.fact_id))
    return AssertionResult(kept, warnings)


def _place(command: AddFact, fact: Fact, predicate: Predicate, same_key: list[Fact], now: Instant) -> TimelinePosition:
    """Place an open fact of a single-valued predicate on its timeline; otherwise only check for an equal row."""
    if predicate.supersedes and fact.valid_to is None:
        return place_of(fact, same_key, command.valid_from is None or fact.valid_from <= now, command.reuse)
    return TimelinePosition(known=_equivalent(fact, same_key, now) if command.reuse else None)


async def _insert(uow: UnitOfWork, fact: Fact, place: TimelinePosition, notes: list[Note]) -> Fact:
    """Stage a new fact, end the facts it supersedes, and end it where the next one begins."""
    note_id, later = notes[0].note_id, place.successor
    if later is not None:
        fact = _replaced(fact, valid_to=later.valid_from)
    await uow.stage([new_draft(uow, FACTS, fact), *await ending_drafts(uow, place.ended, fact, note_id)])
    if later is not None:
        await uow.stage([link_draft(uow, fact, later, note_id, later.valid_from)])
    # A new fact has no evidence in the store, so no fetch is needed.
    uow.cache_rows(EVIDENCE, _evidence_among(fact, notes), [])
    return fact


async def _extend(uow: UnitOfWork, known: Fact, begins: Instant) -> CommandWarning:
    """Move the begin of a known fact earlier; returns a warning that says so."""
    data = to_payload({"fact_id": known.fact_id, "valid_from": begins, "updated_at": start_of(uow.now)})
    await uow.stage([Draft("FactExtended", known.fact_id, data)])
    was, now = instant_text(known.valid_from), instant_text(begins)
    return CommandWarning(EXTENDED, f"the fact was known from {was} on; it now begins at {now}", known.fact_id)


def _check_shape(command: AddFact) -> None:
    if (command.object_entity is None) == (command.object_value is None):
        raise InvalidFact("a fact has exactly one object: an entity or a value", field="object")
    if not command.notes:
        raise EvidenceRequired()


async def _requested_fact(command: AddFact, uow: UnitOfWork, space: Space, position: int) -> Fact:
    """The requested fact, before subject, predicate and object entity are resolved."""
    now = start_of(uow.now)
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
        agent_id=validate_id(command.agent_id, "agentId"),
        scope=validate_id(command.scope, "scope"),
        subject_entity_id="",
        predicate=validate_value(command.predicate, "predicate"),
        predicate_id=None,
        object_entity_id=None,
        object_value=None if command.object_value is None else validate_value(command.object_value),
        valid_from=begins,
        valid_to=command.valid_to,
        created_at=now,
        updated_at=now,
    )


async def _resolve_ends(fact: Fact, command: AddFact, uow: UnitOfWork, space: Space, predicate: Predicate) -> Fact:
    subject = await ensure_ref(uow, space, command.subject)
    object = None if command.object_entity is None else await ensure_ref(uow, space, command.object_entity)
    return _replaced(
        fact,
        subject_entity_id=subject.entity_id,
        predicate_id=predicate.predicate_id,
        object_entity_id=None if object is None else object.entity_id,
    )


def _replaced(fact: Fact, **changes: object) -> Fact:
    values = {name: getattr(fact, name) for name in fact.__struct_fields__}
    return Fact(**(values | changes))


async def _note(uow: UnitOfWork, command: AddFact, ref: NoteRef) -> Note:
    if ref.id is None and ref.text is None:
        raise InvalidFact("a note is named by its id, or given as text", field="notes")
    space = Space(command.tenant_id, command.project_id)
    if ref.text is None:
        return await get_note(uow, ref.id or "", space)
    new = AddNote(
        tenant_id=command.tenant_id,
        project_id=command.project_id,
        agent_id=command.agent_id,
        scope=command.scope,
        text=validate_note(ref.text, "notes.text"),
        source=ref.source,
        note_id=ref.id,
    )
    return await ensure_note(uow, new)


def _equivalent(fact: Fact, same_key: list[Fact], now: Instant) -> Fact | None:
    """A known fact that states the same, so that a second row would be a duplicate (C-61)."""
    same = [row for row in same_key if same_object(row, fact)]
    if fact.valid_to is None:
        known = [row for row in same if row.valid_to is None] or [row for row in same if row.holds_at(now)]
    elif fact.holds_at(now):
        known = [row for row in same if row.holds_at(now)]
    else:
        known = [row for row in same if (row.valid_from, row.valid_to) == (fact.valid_from, fact.valid_to)]
    return known[0] if known else None


def _deprecated(predicate: Predicate) -> CommandWarning:
    return CommandWarning(IS_DEPRECATED, f"the predicate {predicate.canonical!r} is deprecated", predicate.predicate_id)


def _order_after_rivals(fact: Fact, rivals: list[Fact]) -> Fact:
    """Move the begin behind rivals that begin at the same time or up to a second later, so that changes keep order."""
    begun = [row.valid_from for row in rivals if 0 <= row.valid_from - fact.valid_from < ONE_SECOND_MICROSECONDS]
    if not begun:
        return fact
    begins = max(begun) + 1
    if fact.valid_to is not None and fact.valid_to <= begins:
        return fact
    return _replaced(fact, valid_from=begins)


def _overlaps(fact: Fact, rivals: list[Fact]) -> list[CommandWarning]:
    """Warnings for ended facts whose windows overlap with this one: a fact with an end does not end others."""
    return [
        CommandWarning(OVERLAPS, f"holds at the same time as the ended fact {row.fact_id}", row.fact_id)
        for row in rivals
        if row.valid_to is not None
        and row.valid_to > fact.valid_from
        and (fact.valid_to is None or row.valid_from < fact.valid_to)
    ]


def _evidence_among(fact: Fact, notes: list[Note]) -> Where:
    return all_of(eq("fact_id", fact.fact_id), in_("note_id", dict.fromkeys(note.note_id for note in notes)))


async def _add_evidence(uow: UnitOfWork, fact: Fact, notes: list[Note]) -> int:
    """Stage evidence for each note that is not yet linked to the fact; returns their number."""
    known = {row.note_id for row in await uow.fetch(EVIDENCE, _evidence_among(fact, notes))}
    fresh = [note_id for note_id in dict.fromkeys(note.note_id for note in notes) if note_id not in known]
    rows = [Evidence(new_id(), fact.fact_id, note_id, start_of(uow.now)) for note_id in fresh]
    await uow.stage([new_draft(uow, EVIDENCE, row) for row in rows])
    return len(rows)


async def invalidate_fact(command: InvalidateFact, uow: UnitOfWork) -> Decision:
    """Decide the end of a fact; raises `FactConflict` if it has already ended by then."""
    fact = await get_fact(uow, command.fact_id, command.space)
    end = max(end_of(uow.now), fact.valid_from + 1) if command.valid_to is None else command.valid_to
    if end <= fact.valid_from:
        raise InvalidFact(
            f"the fact begins at {instant_text(fact.valid_from)} and cannot end at {instant_text(end)}", field="validTo"
        )
    if fact.valid_to is not None and fact.valid_to <= end:
        raise FactConflict(fact.fact_id, f"has ended at {instant_text(fact.valid_to)} already")
    data = to_payload({"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(uow.now)})
    if command.reason is not None:
        data["reason"] = display_name(command.reason, "reason")
    await uow.stage([Draft("FactInvalidated", fact.fact_id, data)])
    predicate = await uow.find(PREDICATES, fact.predicate_id or "")
    if predicate is not None and predicate.supersedes:
        await refresh_overrides(uow, await uow.fetch(FACTS, key_of(fact)))
    return Decision([])


async def delete_fact(command: DeleteFact, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a fact."""
    fact = await get_fact(uow, command.fact_id, command.space)
    await delete_facts(uow, [fact], command.reopen)
    return Decision([])


END, REPLACE, RETRACT = "end", "replace", "retract"


async def correct_fact(command: CorrectFact, uow: UnitOfWork) -> Decision:
    """Decide a correction, all or nothing; a private fact of another agent is treated as missing."""
    fact = await get_fact(uow, command.fact_id, command.space)
    if not AccessScope(command.space, command.agent_id).sees(fact):
        raise FactNotFound(command.fact_id)
    has_object = command.object_entity is not None or command.object_value is not None
    if command.action not in (END, REPLACE, RETRACT):
        raise InvalidFact(f"the action is {END}, {REPLACE} or {RETRACT}", field="action")
    if has_object and command.action != REPLACE:
        raise InvalidFact(f"value and object go with the action {REPLACE}", field="action")
    if (command.object_entity is None) == (command.object_value is None) and command.action == REPLACE:
        raise InvalidFact("give either value or object: a fact says exactly one thing", field="value")
    if command.action == RETRACT and command.moment is not None:
        raise InvalidFact("what was never true did not end at a time", field="at")
    if command.action == REPLACE:
        return await _replace(command, fact, uow)
    if command.action == RETRACT:
        if fact.valid_to is None:  # the log keeps the reason
            await _end(fact, command, None, uow)
        await delete_facts(uow, [fact], command.reopen)
    else:
        await _end(fact, command, command.moment, uow)
    return Decision([])


async def _end(fact: Fact, command: CorrectFact, moment: Instant | None, uow: UnitOfWork) -> None:
    ending = InvalidateFact(fact_id=fact.fact_id, valid_to=moment, reason=command.reason, space=command.space)
    await invalidate_fact(ending, uow)


async def _replace(command: CorrectFact, fact: Fact, uow: UnitOfWork) -> Decision:
    """Add the fact that takes the place of another, which ends when it begins, also if several may hold at a time."""
    asserted = await assert_fact(
        AddFact(
            tenant_id=fact.tenant_id,
            project_id=fact.project_id,
            agent_id=command.agent_id,
            scope=fact.scope,
            subject=EntityRef(id=fact.subject_entity_id),
            predicate=fact.predicate,
            object_entity=command.object_entity,
            object_value=command.object_value,
            valid_from=command.moment,
            notes=(NoteRef(text=command.reason),),
        ),
        uow,
    )
    before = await get_fact(uow, fact.fact_id, command.space)
    if before.valid_to is None and before.fact_id != asserted.fact.fact_id:
        await _end(before, command, asserted.fact.valid_from, uow)
    return Decision([], asserted.warnings)


DECIDERS: Mapping[type[Command], Decider] = {
    AddFact: add_fact,
    InvalidateFact: invalidate_fact,
    DeleteFact: delete_fact,
    CorrectFact: correct_fact,
}
