"""Proposed facts: shown by no read before somebody else approves them."""

from __future__ import annotations

from typing import Any

from ugs.cypher import api as cypher
from ugs.errors import Forbidden, InvalidSyntax, LimitExceeded
from ugs.extraction.api import Extractions
from ugs.extraction.commands import Claim, FinishExtraction
from ugs.facts.api import Facts
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.facts.errors import InvalidFact, StructuredInvalid
from ugs.facts.model import ENTITIES, FACTS, PREDICATES
from ugs.graph.undo import Undo
from ugs.identity import Context, Principal
from ugs.proposals.api import Proposals
from ugs.proposals.errors import ProposalDecided, ProposalNotFound
from ugs.proposals.model import APPROVED, PENDING, PROPOSALS, REJECTED
from ugs.recall.api import Recall
from ugs.storage import EventQuery
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import ALICE, STRANGER, Know, day
from ugs_conformance.support.store_fixture import StoreUnderTest

BOSS = Principal("boss", frozenset(), ALICE.tenant, ALICE.project, "agent-b")
TEA = NoteToIngest(
    text="Ann likes tea and knows Bob.",
    relations=(
        Stated("Ann", "likes", Object(value="tea")),
        Stated("Ann", "knows", Object(entity="Bob"), valid_from=1_767_225_600_000_000),
    ),
)


async def end_of(world: StoreUnderTest) -> int:
    async with world.system.session() as session:
        return (await session.head()).position


async def everything_read(world: StoreUnderTest) -> list[Any]:
    """What the reads of facts tell about Ann."""
    facts = Facts(world.system, ALICE)
    async with world.system.session() as session:
        rows = [await session.fetch(table) for table in (FACTS, ENTITIES, PREDICATES)]
    found = await Recall(world.system, ALICE).recall("what does Ann like")
    shown = [item for item in found.as_json()["items"] if item["kind"] == "fact"]
    view = await cypher.ask(world.system, "MATCH (a)-[r]->(b) RETURN a, r, b")
    return [*rows, shown, cypher.json_rows(view), await facts.suggest_duplicates()]


@run_on_loop
async def test_a_proposed_fact_is_shown_by_no_read_until_somebody_else_approves_it(world: StoreUnderTest) -> None:
    Know(world)
    mine, theirs = Proposals(world.system, ALICE), Proposals(world.system, BOSS)

    done = await mine.propose(TEA)
    assert [(row.subject, row.predicate, row.state) for row in done.proposals] == [
        ("Ann", "likes", PENDING),
        ("Ann", "knows", PENDING),
    ]
    assert await everything_read(world) == [[]] * 6
    for refused in (mine.approve, mine.reject):
        async with world.refuses(Forbidden):
            await refused(done.proposals[0].proposal_id)
    async with world.refuses(Forbidden):
        await mine.edit(done.proposals[0].proposal_id, value="coffee")

    decided = await theirs.approve(done.proposals[0].proposal_id, key="once")
    again = await theirs.approve(done.proposals[0].proposal_id, key="once")

    assert decided == again and decided.fact is not None
    assert (decided.fact.object_value, decided.proposal.state, decided.proposal.decided_by) == ("tea", APPROVED, "boss")
    why = await Facts(world.system, ALICE).why(decided.fact.fact_id)
    assert [note.note_id for note in why.notes] == [done.notes[0].note_id]
    assert len(await Facts(world.system, ALICE).active_facts("Ann")) == 1
    async with world.refuses(ProposalDecided):
        await theirs.reject(done.proposals[0].proposal_id)


@run_on_loop
async def test_a_proposal_is_edited_or_rejected_with_a_reason(world: StoreUnderTest) -> None:
    Know(world)
    theirs = Proposals(world.system, BOSS)
    first, second = (await Proposals(world.system, ALICE).propose(TEA)).proposals

    edited = await theirs.edit(first.proposal_id, value="green tea", valid_from=day(3))
    fact = (await theirs.approve(first.proposal_id)).fact
    rejected = await theirs.reject(second.proposal_id, "she does not")

    assert edited.object_value == "green tea" and fact is not None and fact.object_value == "green tea"
    assert (rejected.proposal.state, rejected.proposal.reason, rejected.fact) == (REJECTED, "she does not", None)
    assert [row.proposal_id for row in (await theirs.page(REJECTED)).proposals] == [second.proposal_id]
    assert (await theirs.page()).proposals == []
    assert (await world.system.verify()).ok


@run_on_loop
async def test_what_cannot_be_is_refused_and_changes_nothing(world: StoreUnderTest) -> None:
    Know(world)
    mine, theirs = Proposals(world.system, ALICE), Proposals(world.system, BOSS)
    row = (await mine.propose(TEA)).proposals[0]
    before = await world.everything()

    async with world.refuses(StructuredInvalid):
        await mine.propose(NoteToIngest(text="Ann", relations=(Stated("Ann", "hates", Object(value="milk")),)))
    async with world.refuses(StructuredInvalid):
        await mine.propose()
    async with world.refuses(StructuredInvalid):
        await theirs.edit(row.proposal_id)
    async with world.refuses(StructuredInvalid):
        await theirs.edit(row.proposal_id, subject=" ")
    async with world.refuses(InvalidFact):
        await theirs.edit(row.proposal_id, value="x", object="y")
    async with world.refuses(InvalidFact):
        await theirs.page("maybe")
    async with world.refuses(LimitExceeded):
        await theirs.page(first=1_000)
    async with world.refuses(InvalidSyntax):
        await theirs.page(after="x")
    for id in ("", "nobody", "01890a5d-ac96-774b-bcce-b302099a8057"):
        async with world.refuses(ProposalNotFound):
            await theirs.approve(id)
    assert await world.everything() == before


@run_on_loop
async def test_strangers_neither_see_nor_decide(world: StoreUnderTest) -> None:
    Know(world)
    mine = Proposals(world.system, ALICE)
    shared = (await mine.propose(TEA)).proposals[0]
    private = (await mine.propose(TEA, scope="agent_private")).proposals[0]

    stranger, colleague = Proposals(world.system, STRANGER), Proposals(world.system, BOSS)
    assert (await stranger.page()).proposals == []
    assert len((await colleague.page()).proposals) == 2
    async with world.refuses(ProposalNotFound):
        await stranger.approve(shared.proposal_id)
    async with world.refuses(ProposalNotFound):
        await colleague.approve(private.proposal_id)


@run_on_loop
async def test_proposals_are_paged_and_go_with_their_note(world: StoreUnderTest) -> None:
    know = Know(world)
    mine = Proposals(world.system, ALICE)
    first = await mine.propose(TEA)
    await mine.propose(TEA)

    page = await mine.page(first=3)
    rest = await mine.page(first=3, after=page.cursor(page.proposals[-1]))
    assert (len(page.proposals), page.has_more, len(rest.proposals), rest.has_more) == (3, True, 1, False)

    await know.facts.delete_note(first.notes[0].note_id)
    assert len(await know.rows(PROPOSALS)) == 2


def invented(number: int) -> tuple[str, list[Claim], str]:
    """A note, a true claim and an invented one about it, and the path of the invention."""
    text = f"Ann {number} prefers tea {number}."
    true = Claim(subject=f"Ann {number}", predicate="prefers", object=f"tea {number}", quote=text)
    changes, part = [
        ({"object": "gold"}, "object"),
        ({"subject": "Eve"}, "subject"),
        ({"quote": "Ann prefers gold."}, "quote"),
        ({"valid_from": "yesterday"}, "valid_from"),
        ({"predicate": " "}, "predicate"),
    ][number % 5]
    said = {name: getattr(true, name) for name in ("subject", "predicate", "object", "quote")}
    return text, [true, Claim(**{**said, **changes})], f"facts[1].{part}"


@run_on_loop
async def test_of_a_hundred_notes_with_inventions_no_invention_is_kept(world: StoreUnderTest) -> None:
    Know(world)
    queue = Extractions(world.system, ALICE)
    writer = Context(Principal("extractor", frozenset({"writer"}), ALICE.tenant, ALICE.project, ALICE.agent))
    wanted = []
    for number in range(100):
        text, claims, path = invented(number)
        note = await queue.remember(text)
        command = FinishExtraction(
            note_id=note.note_id, extractor="stub", claims=tuple(claims), propose=number % 2 == 0
        )
        await world.system.execute(command, writer)
        wanted.append(path)

    async with world.system.session() as session:
        finished = await session.events(EventQuery(types=frozenset({"ExtractionFinished"})))
        facts = await session.fetch(FACTS)
        proposals = await session.fetch(PROPOSALS)
    assert [[one["path"] for one in event.payload["refused"]] for event in finished] == [[path] for path in wanted]
    assert len(facts) == len(proposals) == 50
    objects = {row.object_value for row in (*facts, *proposals)}
    assert objects == {f"tea {number}" for number in range(100)}
    assert {row.proposer for row in proposals} == {"extractor stub"}


@run_on_loop
async def test_an_undone_approval_can_be_decided_again(world: StoreUnderTest) -> None:
    know = Know(world)
    theirs = Proposals(world.system, BOSS)
    row = (await Proposals(world.system, ALICE).propose(TEA)).proposals[0]
    approved = (await theirs.approve(row.proposal_id)).proposal

    undone = await know.facts.do(Undo(transaction=await end_of(world)))

    assert await know.rows(FACTS) == []
    first = (await theirs.page()).proposals[0]
    assert (first.proposal_id, first.state, first.decided_by) == (row.proposal_id, PENDING, "boss")
    await know.facts.do(Undo(transaction=undone.events[0].position))
    again = (await theirs.page(APPROVED)).proposals
    assert [(one.proposal_id, one.fact_id, one.decided_by) for one in again] == [
        (row.proposal_id, approved.fact_id, "boss")
    ]
    assert len(await know.rows(FACTS)) == 1

    await know.facts.do(Undo(transaction=await end_of(world)))
    rejected = (await theirs.reject(row.proposal_id, "she does not")).proposal
    assert (rejected.state, rejected.reason, rejected.fact_id) == (REJECTED, "she does not", None)
    assert (await world.system.verify()).ok


@run_on_loop
async def test_an_undone_approval_of_a_known_fact_leaves_the_fact(world: StoreUnderTest) -> None:
    know = Know(world)
    known = (await know.say("Ann", "likes", "tea")).fact
    theirs = Proposals(world.system, BOSS)
    row = (await Proposals(world.system, ALICE).propose(TEA)).proposals[0]
    assert (await theirs.approve(row.proposal_id)).proposal.fact_id == known.fact_id

    await know.facts.do(Undo(transaction=await end_of(world)))

    assert [fact.fact_id for fact in await know.rows(FACTS)] == [known.fact_id]
    assert row.proposal_id in [one.proposal_id for one in (await theirs.page()).proposals]
    edited = await theirs.edit(row.proposal_id, value="green tea")
    assert (edited.state, edited.fact_id, edited.decided_by) == (PENDING, None, None)
    fact = (await theirs.approve(row.proposal_id)).fact
    assert fact is not None and fact.object_value == "green tea"
    assert (await world.system.verify()).ok
