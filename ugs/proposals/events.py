"""Reducers of the events of proposed facts. Every event carries the owner, who decides who may see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Draft, Event
from ugs.facts.audience import Owner, Readers
from ugs.facts.events import decode_fields, row_in, to_payload
from ugs.feature import Audience, allow_everybody
from ugs.proposals.model import PROPOSALS, Proposal
from ugs.reads.filters import eq
from ugs.storage import Session

PROPOSED, EDITED, APPROVED, REJECTED = "FactProposed", "ProposalEdited", "ProposalApproved", "ProposalRejected"
OWNER = ("tenant_id", "project_id", "agent_id", "scope")


def proposed_draft(row: Proposal) -> Draft:
    """The event that keeps a proposal."""
    return Draft(PROPOSED, row.proposal_id, to_payload(msgspec.to_builtins(row)))


def change_draft(type: str, row: Proposal, **fields: Any) -> Draft:
    """An event that changes fields of a proposal."""
    owned = {"proposal_id": row.proposal_id, **{name: getattr(row, name) for name in OWNER}}
    return Draft(type, row.proposal_id, owned | to_payload(fields))


def propose(event: Event) -> list[Change]:
    return [Put(PROPOSALS, row_in(PROPOSALS, event.payload))]


def change(event: Event) -> list[Change]:
    data = event.payload
    fields = {name: value for name, value in decode_fields(data).items() if name not in (*OWNER, "proposal_id")}
    return [Patch(PROPOSALS, data["proposal_id"], fields)]


def forget_note(event: Event) -> list[Change]:
    """What a deleted note proposed goes with it."""
    return [Drop(PROPOSALS, eq("note_id", event.payload["note_id"]))]


def forget_withdrawn_note(event: Event) -> list[Change]:
    """What a note proposed goes with it if an undo takes the note away."""
    return forget_note(event) if event.payload["drop"] else []


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    PROPOSED: propose,
    EDITED: change,
    APPROVED: change,
    REJECTED: change,
    "NoteDeleted": forget_note,
    "NoteRestored": forget_withdrawn_note,
}
ELEMENTS: Mapping[str, str] = dict.fromkeys((PROPOSED, EDITED, APPROVED, REJECTED), "proposal_id")


async def audiences_of(session: Session, events: Sequence[Event]) -> list[Audience]:
    """Those who could see the fact may see what happens to its proposal; of notes the facts decide alone."""
    return [Readers((Owner.of(event.payload),)) if event.type in ELEMENTS else allow_everybody for event in events]
