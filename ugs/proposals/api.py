"""The Python API of proposed facts: propose, list, edit, approve and reject, for one principal."""

from __future__ import annotations

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.events import Event
from ugs.facts.api import Facts
from ugs.facts.commands.ingestion import NoteToIngest, Object
from ugs.facts.errors import InvalidFact
from ugs.facts.model import FACTS, Fact, Note
from ugs.facts.reader import SHARED, Moment
from ugs.facts.resolution import get_note
from ugs.facts.temporal.instants import instant_of
from ugs.feature import Command, CommandWarning
from ugs.identity import LOCAL, Principal
from ugs.proposals.commands import DecideProposal, EditProposal, ProposeFacts
from ugs.proposals.errors import ProposalNotFound
from ugs.proposals.events import PROPOSED
from ugs.proposals.model import PENDING, PROPOSALS, STATES, Proposal
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.reads.filters import Compare, Op, all_of, any_of, eq
from ugs.reads.plan import Order, Page
from ugs.system import System

ORDER = "proposal"
MAX_PAGE_SIZE = 200


class Proposed(Struct, frozen=True):
    """New notes with what was proposed of them."""

    notes: list[Note]
    proposals: list[Proposal]
    events: list[Event]


class Decided(Struct, frozen=True):
    """A proposal after a decision, with the fact that it became."""

    proposal: Proposal
    fact: Fact | None
    warnings: list[CommandWarning]


class ProposalPage(Struct, frozen=True):
    """A page of proposals, oldest first."""

    proposals: list[Proposal]
    has_more: bool

    @staticmethod
    def cursor(row: Proposal) -> str:
        """The place of a proposal in the list."""
        return encode_cursor(ORDER, (row.created_at, row.proposal_id))


class Proposals:
    """The proposed facts of one system, used by one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal, actor: str | None = None) -> None:
        self.facts = Facts(system, principal)
        self.actor = actor or principal.account
        """Who proposes and decides: nobody decides about what they proposed themselves."""

    async def propose(
        self,
        *notes: NoteToIngest,
        scope: str = SHARED,
        supported: bool = True,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Proposed:
        """Keep notes, and what they state as proposals."""
        space = self.facts.writing(tenant, project, agent)
        command = ProposeFacts(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=agent or self.facts.principal.agent,
            scope=scope,
            proposer=self.actor,
            notes=notes,
            supported=supported,
        )
        done = await self.facts.do(command, key)
        ids = [event.element or "" for event in done.events if event.type == PROPOSED]
        added = [event.element or "" for event in done.events if event.type == "NoteAdded"]
        async with self.facts.known() as session:
            rows = {row.proposal_id: row for row in await session.find_many(PROPOSALS, sorted(ids))} if ids else {}
            kept = [await get_note(session, id, space) for id in added]
        return Proposed(kept, [rows[id] for id in ids if id in rows], done.events)

    async def page(self, state: str = PENDING, first: int = 50, after: str | None = None) -> ProposalPage:
        """The proposals in a state that the principal may see, oldest first."""
        if state not in STATES:
            raise InvalidFact(f"a proposal is {', '.join(STATES)}", field="state")
        if not 0 <= first <= MAX_PAGE_SIZE:
            raise LimitExceeded(f"first lies between 0 and {MAX_PAGE_SIZE}; go on with after", limit=MAX_PAGE_SIZE)
        where = all_of(eq("state", state), self.facts.viewer.readable)
        if after is not None:
            created, id = decode_cursor(after, ORDER, 2)
            if not isinstance(created, int) or not isinstance(id, str):
                raise InvalidSyntax("The cursor belongs to another list; start again without it")
            later = all_of(eq("created_at", created), Compare("proposal_id", Op.GT, id))
            where = all_of(where, any_of(Compare("created_at", Op.GT, created), later))
        order = (Order("created_at"), Order("proposal_id"))
        async with self.facts.known() as session:
            rows: list[Proposal] = await session.fetch(PROPOSALS, where, order, Page(limit=first + 1))
        return ProposalPage(rows[:first], len(rows) > first)

    async def edit(
        self,
        id: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        value: str | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        key: str | None = None,
    ) -> Proposal:
        """Change what a pending proposal says; what is not given stays."""
        if object is not None and value is not None:
            raise InvalidFact("give either value or object: a fact says exactly one thing", field="value")
        command = EditProposal(
            proposal_id=id,
            actor=self.actor,
            agent=self.facts.viewer.agent,
            space=self.facts.viewer.space,
            subject=subject,
            predicate=predicate,
            object=None if object is None and value is None else Object(object, value),
            valid_from=None if valid_from is None else instant_of(valid_from, "validFrom"),
            valid_to=None if valid_to is None else instant_of(valid_to, "validTo"),
        )
        return (await self._decided(id, command, key)).proposal

    async def approve(self, id: str, key: str | None = None) -> Decided:
        """Make a proposal a fact, with its note as evidence."""
        return await self._decided(id, self._decision(id, True, None), key)

    async def reject(self, id: str, reason: str | None = None, key: str | None = None) -> Decided:
        """Reject a proposal; it stays on record with the reason."""
        return await self._decided(id, self._decision(id, False, reason), key)

    def _decision(self, id: str, approve: bool, reason: str | None) -> DecideProposal:
        viewer = self.facts.viewer
        return DecideProposal(
            proposal_id=id, approve=approve, actor=self.actor, agent=viewer.agent, space=viewer.space, reason=reason
        )

    async def _decided(self, id: str, command: Command, key: str | None) -> Decided:
        done = await self.facts.do(command, key)
        async with self.facts.known() as session:
            row: Proposal | None = await session.find(PROPOSALS, id)
            if row is None:  # its note was deleted since
                raise ProposalNotFound(id)
            fact: Fact | None = None if row.fact_id is None else await session.find(FACTS, row.fact_id)
        return Decided(row, fact, done.warnings)
