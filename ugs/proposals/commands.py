"""Commands about proposed facts: propose, edit, approve, reject.

A proposal is checked as an assertion would be, but touches no entity, predicate or fact before it is approved. Whoever
proposed it may not decide about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ugs.facts.access import AccessScope
from ugs.facts.commands.facts import AddFact, NoteRef, assert_fact
from ugs.facts.commands.ingestion import (
    MAX_NOTES,
    NoteToIngest,
    Object,
    Stated,
    check_relation,
    check_sizes,
    check_support,
    keep_note,
)
from ugs.facts.errors import StructuredInvalid
from ugs.facts.model import EVIDENCE, Note
from ugs.facts.normalization import Space, display_name, is_uuid, new_id, validate_space
from ugs.facts.resolution import EntityRef, get_note
from ugs.facts.temporal.instants import Instant, start_of
from ugs.feature import Command, Decider, Decision
from ugs.proposals import events
from ugs.proposals.errors import ProposalDecided, ProposalNotFound, own_proposal
from ugs.proposals.model import APPROVED, PENDING, PROPOSALS, REJECTED, Proposal
from ugs.reads.filters import in_
from ugs.records import RowChange
from ugs.unit_of_work import UnitOfWork


class ProposeFacts(Command, frozen=True):
    """Keep notes, and what they state as proposals."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    proposer: str
    notes: tuple[NoteToIngest, ...]
    supported: bool = True
    """Reject names and predicates that occur neither in the note nor in a quote."""


class EditProposal(Command, frozen=True):
    """Change what a pending proposal says; what is not given stays."""

    proposal_id: str
    actor: str
    agent: str | None = None
    space: Space | None = None
    subject: str | None = None
    predicate: str | None = None
    object: Object | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None


class DecideProposal(Command, frozen=True):
    """Approve a proposal, which makes it a fact, or reject it."""

    proposal_id: str
    approve: bool
    actor: str
    agent: str | None = None
    space: Space | None = None
    reason: str | None = None


async def propose(command: ProposeFacts, uow: UnitOfWork) -> Decision:
    """Decide a note with proposals."""
    validate_space(command.tenant_id, command.project_id)
    if not 1 <= len(command.notes) <= MAX_NOTES:
        raise StructuredInvalid("notes", f"between 1 and {MAX_NOTES} notes at once")
    for index, given in enumerate(command.notes):
        prefix = f"notes[{index}]." if len(command.notes) > 1 else ""
        check_sizes(given, f"{prefix}structured")
        if command.supported:
            check_support(given, f"{prefix}structured")
        note = await keep_note(uow, command, given, f"{prefix}text")
        rows = [new_proposal(uow, note, relation, command.proposer) for relation in given.relations]
        await uow.stage(events.proposed_draft(row) for row in rows)
    return Decision([])


def new_proposal(uow: UnitOfWork, note: Note, said: Stated, proposer: str) -> Proposal:
    """A pending proposal of what a note states."""
    now = start_of(uow.now)
    return Proposal(
        proposal_id=new_id(),
        tenant_id=note.tenant_id,
        project_id=note.project_id,
        agent_id=note.agent_id,
        scope=note.scope,
        proposer=proposer,
        note_id=note.note_id,
        subject=said.subject,
        predicate=said.predicate,
        object_entity=said.object.entity,
        object_value=said.object.value,
        valid_from=said.valid_from,
        valid_to=said.valid_to,
        state=PENDING,
        decided_by=None,
        reason=None,
        fact_id=None,
        created_at=now,
        updated_at=now,
    )


async def _pending(uow: UnitOfWork, command: EditProposal | DecideProposal) -> Proposal:
    """The proposal that a command is about, if its actor may decide about it."""
    id = command.proposal_id
    row: Proposal | None = await uow.find(PROPOSALS, id) if is_uuid(id) else None
    if row is None or not AccessScope(command.space, command.agent).sees(row):
        raise ProposalNotFound(id)
    if row.proposer == command.actor:
        raise own_proposal(id)
    if row.state != PENDING:
        raise ProposalDecided(id, row.state)
    return row


def _said(row: Proposal) -> Stated:
    return Stated(row.subject, row.predicate, Object(row.object_entity, row.object_value), row.valid_from, row.valid_to)


async def edit(command: EditProposal, uow: UnitOfWork) -> Decision:
    """Decide a change of a pending proposal."""
    row = await _pending(uow, command)
    given = {name: getattr(command, name) for name in ("subject", "predicate", "object", "valid_from", "valid_to")}
    said = msgspec.structs.replace(_said(row), **{name: value for name, value in given.items() if value is not None})
    if said == _said(row):
        raise StructuredInvalid("proposal", "nothing to change was given")
    check_relation(said, "proposal")
    fields = {
        **_without_decision(row),
        "subject": said.subject,
        "predicate": said.predicate,
        "object_entity": said.object.entity,
        "object_value": said.object.value,
        "valid_from": said.valid_from,
        "valid_to": said.valid_to,
        "updated_at": start_of(uow.now),
    }
    return Decision([events.change_draft(events.EDITED, row, **fields)])


def _without_decision(row: Proposal) -> dict[str, None]:
    """What a pending proposal loses that had become a fact before an undo: what is done now replaces that."""
    return {} if row.fact_id is None else {"decided_by": None, "reason": None, "fact_id": None}


async def refresh_restored(uow: UnitOfWork, rows: Sequence[RowChange]) -> None:
    """Make proposals pending again whose fact or evidence an undo has taken away, and approved if it has come back."""
    changed = [row for row in rows if row.table is EVIDENCE and (row.before is None) != (row.after is None)]
    said = {(one.fact_id, one.note_id): row.after for row in changed for one in (row.before or row.after,) if one}
    if not said:
        return
    found: list[Proposal] = await uow.fetch(PROPOSALS, in_("note_id", sorted({note for _, note in said})))
    for row in sorted(found, key=lambda one: one.proposal_id):
        key = (row.fact_id or "", row.note_id)
        if key not in said:
            continue
        was, now = (APPROVED, PENDING) if said[key] is None else (PENDING, APPROVED)
        if row.state == was:
            type = events.EDITED if now == PENDING else events.APPROVED
            await uow.stage([events.change_draft(type, row, state=now, updated_at=start_of(uow.now))])


async def decide(command: DecideProposal, uow: UnitOfWork) -> Decision:
    """Decide the approval or the rejection of a proposal."""
    row = await _pending(uow, command)
    fields = {
        "decided_by": command.actor,
        "reason": None if command.reason is None else display_name(command.reason, "reason"),
        "updated_at": start_of(uow.now),
    }
    if not command.approve:
        fields = {**_without_decision(row), **fields}
        return Decision([events.change_draft(events.REJECTED, row, state=REJECTED, **fields)])
    note = await get_note(uow, row.note_id, command.space)
    asserted = await assert_fact(fact_of(row, note), uow)
    fact_id = asserted.fact.fact_id
    draft = events.change_draft(events.APPROVED, row, state=APPROVED, fact_id=fact_id, **fields)
    return Decision([draft], asserted.warnings)


def fact_of(row: Proposal, note: Note) -> AddFact:
    """The assertion that a proposal stands for."""
    return AddFact(
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        agent_id=row.agent_id,
        scope=row.scope,
        subject=EntityRef(name=row.subject),
        predicate=row.predicate,
        object_entity=None if row.object_entity is None else EntityRef(name=row.object_entity),
        object_value=row.object_value,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        notes=(NoteRef(id=note.note_id),),
    )


DECIDERS: Mapping[type[Command], Decider] = {ProposeFacts: propose, EditProposal: edit, DecideProposal: decide}
