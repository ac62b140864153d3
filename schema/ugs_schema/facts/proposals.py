"""GraphQL of proposed facts: list them, and edit, approve or reject what somebody else proposed."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry

from ugs.proposals.api import Decided, Proposals
from ugs.proposals.api import ProposalPage as KernelPage
from ugs.proposals.model import Proposal
from ugs.reads.plan import Page
from ugs_schema.context import Info
from ugs_schema.facts.loaders import make_loader, strip_kind
from ugs_schema.facts.types import Fact, to_graphql_fact
from ugs_schema.facts.vocabulary import moment
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.inputs import RETRY_DESCRIPTION
from ugs_schema.graph.mutations import Key
from ugs_schema.pagination import PageInfo, build_page_info
from ugs_schema.scalars import Instant


@strawberry.enum(description="What became of a proposed fact")
class ProposalState(Enum):
    PENDING = strawberry.enum_value("pending", description="Nobody has decided about it")
    APPROVED = strawberry.enum_value("approved", description="It is a fact")
    REJECTED = strawberry.enum_value("rejected", description="It stays on record, and is no fact")


@strawberry.type(description="A fact that a note states and that somebody has to approve; no read of facts shows it")
class FactProposal:
    row: strawberry.Private[Proposal]

    @strawberry.field(description="Its id")
    def proposal_id(self) -> strawberry.ID:
        return strawberry.ID(self.row.proposal_id)

    @strawberry.field(description="What became of it")
    def state(self) -> ProposalState:
        return ProposalState(self.row.state)

    @strawberry.field(description="Whom the fact is meant for")
    def scope(self) -> str:
        return self.row.scope

    @strawberry.field(description="Who proposed it, and therefore may not decide about it")
    def proposer(self) -> str:
        return self.row.proposer

    @strawberry.field(description="The note that states it")
    def note_id(self) -> strawberry.ID:
        return strawberry.ID(f"note/{self.row.note_id}")

    @strawberry.field(description="The name of its subject")
    def subject(self) -> str:
        return self.row.subject

    @strawberry.field(description="What is said of the subject")
    def predicate(self) -> str:
        return self.row.predicate

    @strawberry.field(description="The name of the entity that it is said of the subject with, if it is one")
    def object_entity(self) -> str | None:
        return self.row.object_entity

    @strawberry.field(description="The value, if it is one")
    def object_value(self) -> str | None:
        return self.row.object_value

    @strawberry.field(description="Since when it is said to hold; from its approval on when null")
    def valid_from(self) -> Instant | None:
        return None if self.row.valid_from is None else moment(self.row.valid_from)

    @strawberry.field(description="Until when it is said to hold")
    def valid_to(self) -> Instant | None:
        return None if self.row.valid_to is None else moment(self.row.valid_to)

    @strawberry.field(description="Who decided about it")
    def decided_by(self) -> str | None:
        return self.row.decided_by

    @strawberry.field(description="Why it was rejected")
    def reason(self) -> str | None:
        return self.row.reason


@strawberry.type(description="A proposal on a page, with the cursor behind it")
class FactProposalEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: FactProposal = strawberry.field(description="The proposal")


@strawberry.type(description="A page of proposals, oldest first")
class FactProposalConnection:
    edges: list[FactProposalEdge] = strawberry.field(description="The proposals with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")

    @strawberry.field(description="The proposals alone")
    def nodes(self) -> list[FactProposal]:
        return [edge.node for edge in self.edges]


@strawberry.type(description="A proposal after a decision")
class ProposalPayload:
    proposal: FactProposal = strawberry.field(description="The proposal")
    fact: Fact | None = strawberry.field(description="The fact that it became")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")


@strawberry.input(description="What a pending proposal says instead; what is left out stays")
class EditProposalInput:
    proposal_id: strawberry.ID = strawberry.field(description="The proposal")
    subject: str | None = strawberry.field(default=None, description="The name of its subject")
    predicate: str | None = strawberry.field(default=None, description="What is said of the subject")
    object_entity: str | None = strawberry.field(default=None, description="The name of another entity")
    object_value: str | None = strawberry.field(default=None, description="A value")
    valid_from: Instant | None = strawberry.field(default=None, description="Since when it holds")
    valid_to: Instant | None = strawberry.field(default=None, description="Until when it holds")
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)


def get_proposals(info: Info) -> Proposals:
    return Proposals(info.context.system, info.context.principal)


@strawberry.type
class ProposalsQuery:
    @strawberry.field(description="Facts that were proposed, oldest first")
    async def fact_proposals(
        self,
        info: Info,
        state: ProposalState = ProposalState.PENDING,
        first: int = 50,
        after: str | None = None,
    ) -> FactProposalConnection:
        found = await get_proposals(info).page(str(state.value), first, after)
        cursors = [KernelPage.cursor(row) for row in found.proposals]
        edges = [
            FactProposalEdge(cursor=cursor, node=FactProposal(row=row))
            for cursor, row in zip(cursors, found.proposals, strict=True)
        ]
        page = Page(limit=first, after=() if after else None)
        return FactProposalConnection(edges=edges, page_info=build_page_info(page, found.has_more, cursors))


@strawberry.type
class ProposalsMutation:
    @strawberry.mutation(description="Make a proposal a fact; FORBIDDEN for whoever proposed it")
    async def approve_proposal(
        self, info: Info, proposal_id: strawberry.ID, idempotency_key: Key = None
    ) -> ProposalPayload:
        done = await get_proposals(info).approve(strip_kind(proposal_id, "proposal"), idempotency_key)
        return await to_graphql_decision(done, info)

    @strawberry.mutation(description="Reject a proposal; FORBIDDEN for whoever proposed it")
    async def reject_proposal(
        self,
        info: Info,
        proposal_id: strawberry.ID,
        reason: Annotated[str | None, strawberry.argument(description="Why")] = None,
        idempotency_key: Key = None,
    ) -> ProposalPayload:
        done = await get_proposals(info).reject(strip_kind(proposal_id, "proposal"), reason, idempotency_key)
        return await to_graphql_decision(done, info)

    @strawberry.mutation(description="Change a pending proposal; FORBIDDEN for whoever proposed it")
    async def edit_proposal(self, info: Info, input: EditProposalInput) -> ProposalPayload:
        row = await get_proposals(info).edit(
            strip_kind(input.proposal_id, "proposal"),
            subject=input.subject,
            predicate=input.predicate,
            object=input.object_entity,
            value=input.object_value,
            valid_from=input.valid_from,
            valid_to=input.valid_to,
            key=input.idempotency_key,
        )
        return ProposalPayload(proposal=FactProposal(row=row), fact=None, warnings=[])


async def to_graphql_decision(done: Decided, info: Info) -> ProposalPayload:
    """The answer to a decision."""
    fact = None if done.fact is None else to_graphql_fact(done.fact, await make_loader(info))
    return ProposalPayload(
        proposal=FactProposal(row=done.proposal), fact=fact, warnings=to_graphql_warnings(done.warnings)
    )
