"""Proposed facts in a store that this process has opened."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.facts.note_json import note_of
from ugs.facts.temporal.instants import instant_text
from ugs.identity import LOCAL
from ugs.proposals.api import MAX_PAGE_SIZE, ProposalPage, Proposals
from ugs.proposals.model import Proposal
from ugs.system import System
from ugs_gateway.cli.clients import Record

OPERATOR = "command line"
"""Who decides: whoever may open the store, which is not the agent that works on it without a login."""


def proposals_of(system: System) -> Proposals:
    return Proposals(system, LOCAL.principal, OPERATOR)


async def list_proposals(system: System, state: str) -> list[Record]:
    """All proposals in a state, oldest first."""
    page = await proposals_of(system).page(state, MAX_PAGE_SIZE)
    found = list(page.proposals)
    while page.has_more:
        page = await proposals_of(system).page(state, MAX_PAGE_SIZE, ProposalPage.cursor(found[-1]))
        found += page.proposals
    return [to_record(row) for row in found]


async def propose_notes(
    system: System, notes: Sequence[Record], scope: str, supported: bool, key: str | None
) -> Record:
    """Keep notes with proposals. They are proposed as agents without a login do it, so that the operator may decide."""
    done = await Proposals(system, LOCAL.principal).propose(
        *map(note_of, notes), scope=scope, supported=supported, key=key
    )
    return {"notes": len(done.notes), "proposals": len(done.proposals)}


async def decide(system: System, id: str, action: str, reason: str | None, changes: Record) -> Record:
    """Approve, reject or edit a proposal."""
    proposals = proposals_of(system)
    if action == "edit":
        return to_record(await proposals.edit(id, **changes))
    done = await (proposals.approve(id) if action == "approve" else proposals.reject(id, reason))
    return to_record(done.proposal)


def to_record(row: Proposal) -> Record:
    """A proposal as a record."""
    return {
        "id": row.proposal_id,
        "state": row.state,
        "subject": row.subject,
        "predicate": row.predicate,
        "value": row.object_value,
        "object": row.object_entity,
        "valid_from": None if row.valid_from is None else instant_text(row.valid_from),
        "valid_to": None if row.valid_to is None else instant_text(row.valid_to),
        "scope": row.scope,
        "note_id": row.note_id,
        "proposer": row.proposer,
        "decided_by": row.decided_by,
        "reason": row.reason,
    }
