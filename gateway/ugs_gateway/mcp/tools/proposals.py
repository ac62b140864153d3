"""The tool for proposed facts: list them, and edit, approve or reject what somebody else proposed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ugs.facts.commands.ingestion import NoteToIngest
from ugs.facts.errors import InvalidFact
from ugs.facts.reader import SHARED
from ugs.facts.temporal.instants import instant_text
from ugs.ontology.api import Memory
from ugs.proposals.api import MAX_PAGE_SIZE, ProposalPage, Proposals
from ugs.proposals.model import Proposal
from ugs_gateway.mcp import inputs
from ugs_gateway.mcp.tools.base import ADDS, Json, MemoryTool, retry_key_of
from ugs_gateway.mcp.tools.facts import facts_to_json
from ugs_gateway.mcp.tools.memory import MAX_FACTS, Statement, Time, to_relation

RESULT: Json = {"type": "object"}


class Propose(inputs.Arguments, frozen=True):
    text: Annotated[str, Meta(description="The words themselves; kept as evidence")]
    facts: Annotated[list[Statement], Meta(min_length=1, max_length=MAX_FACTS, description="What the text states")]
    source: str | None = None
    scope: str = SHARED


class ProposalArguments(inputs.Arguments, frozen=True):
    action: Literal["list", "approve", "reject", "edit"]
    proposal_id: str | None = None
    state: Literal["pending", "approved", "rejected"] = "pending"
    reason: Annotated[str, Meta(description="Why it is rejected")] | None = None
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    object: str | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_SIZE)] = 20
    cursor: str | None = None


async def propose(memory: Memory, arguments: Propose) -> Json:
    """Keep a note with proposals."""
    relations = tuple(to_relation(one, f"facts[{number}]") for number, one in enumerate(arguments.facts))
    note = NoteToIngest(text=arguments.text, source=arguments.source, relations=relations)
    done = await proposals_of(memory).propose(note, scope=arguments.scope, supported=False, key=retry_key_of(memory))
    told = [proposal_to_json(row) for row in done.proposals]
    return {"note_id": done.notes[0].note_id if done.notes else "", "proposals": told}


def proposals_of(memory: Memory) -> Proposals:
    return Proposals(memory.system, memory.principal)


def proposal_to_json(row: Proposal) -> Json:
    """A proposal with what it says; what it does not have is left out."""
    told = {
        "proposal_id": row.proposal_id,
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
        "fact_id": row.fact_id,
    }
    return {name: value for name, value in told.items() if value is not None}


async def proposals(memory: Memory, arguments: ProposalArguments) -> Json:
    """List proposals, or decide about one."""
    given, key = proposals_of(memory), retry_key_of(memory)
    if arguments.action == "list":
        page = await given.page(arguments.state, arguments.limit, arguments.cursor)
        answer: Json = {"proposals": [proposal_to_json(row) for row in page.proposals]}
        return {**answer, "next_cursor": ProposalPage.cursor(page.proposals[-1])} if page.has_more else answer
    if arguments.proposal_id is None:
        raise InvalidFact("proposal_id names the proposal", field="proposal_id")
    if arguments.action == "edit":
        row = await given.edit(
            arguments.proposal_id,
            subject=arguments.subject,
            predicate=arguments.predicate,
            object=arguments.object,
            value=arguments.value,
            valid_from=arguments.valid_from,
            valid_to=arguments.valid_to,
            key=key,
        )
        return {"proposal": proposal_to_json(row)}
    if arguments.action == "reject":
        return {
            "proposal": proposal_to_json((await given.reject(arguments.proposal_id, arguments.reason, key)).proposal)
        }
    done = await given.approve(arguments.proposal_id, key)
    facts = await facts_to_json(given.facts, [] if done.fact is None else [done.fact])
    return {"proposal": proposal_to_json(done.proposal), "facts": facts}


PROPOSAL_TOOLS = (
    MemoryTool(
        "propose",
        "Propose facts",
        "Keep a note; the facts it states are shown by no read until somebody else approves them.",
        Propose,
        RESULT,
        ADDS,
        propose,
        keeps_key=True,
    ),
    MemoryTool(
        "proposals",
        "Decide about proposed facts",
        "List proposed facts, or edit, approve or reject one that somebody else proposed.",
        ProposalArguments,
        RESULT,
        ADDS,
        proposals,
        reads=lambda arguments: arguments.action == "list",
        keeps_key=True,
    ),
)
