"""Proposed facts, corrections, and merges taken back, through GraphQL."""

from __future__ import annotations

from tests.schema.conftest import Ask
from ugs import System
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.proposals.api import Proposals

SHOWN = "proposalId state subject predicate objectEntity objectValue proposer decidedBy reason validFrom validTo noteId"
SAID = NoteToIngest(
    text="Ann is old and knows Bob.",
    relations=(Stated("Ann", "is", Object(value="old")), Stated("Ann", "knows", Object(entity="Bob"))),
)


async def test_proposals_are_listed_edited_approved_and_rejected(ask: Ask, system: System) -> None:
    first, second = (await Proposals(system, actor="a model").propose(SAID)).proposals

    page = (await ask(f"{{ factProposals(first: 1) {{ nodes {{ {SHOWN} }} pageInfo {{ hasNextPage endCursor }} }} }}"))[
        "data"
    ]["factProposals"]
    rest = await ask(
        "query($after: String) { factProposals(after: $after) { nodes { proposalId } } }",
        after=page["pageInfo"]["endCursor"],
    )
    edited = await ask(
        f"mutation($i: EditProposalInput!) {{ editProposal(input: $i) {{ proposal {{ {SHOWN} }} }} }}",
        i={"proposalId": first.proposal_id, "objectValue": "young", "validFrom": "2026-01-01T00:00:00Z"},
    )
    approved = await ask(
        f"mutation($id: ID!) {{ approveProposal(proposalId: $id) {{ proposal {{ {SHOWN} }} fact {{ objectValue }} }} }}",
        id=first.proposal_id,
    )
    rejected = await ask(
        f'mutation($id: ID!) {{ rejectProposal(proposalId: $id, reason: "no") {{ proposal {{ {SHOWN} }} fact {{ id }} }} }}',
        id=second.proposal_id,
    )

    assert [one["proposalId"] for one in page["nodes"]] == [first.proposal_id] and page["pageInfo"]["hasNextPage"]
    assert [one["proposalId"] for one in rest["data"]["factProposals"]["nodes"]] == [second.proposal_id]
    assert edited["data"]["editProposal"]["proposal"]["objectValue"] == "young"
    assert approved["data"]["approveProposal"]["fact"] == {"objectValue": "young"}
    assert rejected["data"]["rejectProposal"]["proposal"]["state"] == "REJECTED"
    assert rejected["data"]["rejectProposal"]["fact"] is None


async def test_ingested_facts_may_be_proposed(ask: Ask) -> None:
    note = {
        "text": "Ann is old.",
        "structured": {"relations": [{"subject": "Ann", "predicate": "is", "object": {"value": "old"}}]},
    }
    done = await ask(
        "mutation($i: IngestInput!) { ingest(input: $i) { created facts { id } proposals { subject proposalId } } }",
        i={"scope": "project_shared", "trust": "PROPOSE", "notes": [note]},
    )
    told = done["data"]["ingest"]
    assert (told["created"], told["facts"], [one["subject"] for one in told["proposals"]]) == (0, [], ["Ann"])
    assert (await ask('{ facts(subject: {name: "Ann"}) { totalCount } }'))["data"]["facts"]["totalCount"] == 0
    refused = await ask(
        "mutation($id: ID!) { approveProposal(proposalId: $id) { fact { id } } }", id=told["proposals"][0]["proposalId"]
    )
    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_fact_is_corrected_and_a_merge_taken_back(ask: Ask) -> None:
    made = {}
    for name in ("Bob", "Bobby"):
        done = await ask("mutation($n: String!) { upsertEntity(input: {name: $n}) { entity { entityId } } }", n=name)
        made[name] = done["data"]["upsertEntity"]["entity"]["entityId"]
    fact = (
        await ask(
            'mutation { addFact(input: {scope: "project_shared", subject: {name: "Bobby"}, predicate: "likes", '
            'objectValue: "tea", notes: [{text: "said"}]}) { fact { factId } } }'
        )
    )["data"]["addFact"]["fact"]["factId"]

    corrected = await ask(
        "mutation($i: CorrectFactInput!) { correctFact(input: $i) "
        "{ fact { objectValue } before { validTo } reopened { id } warnings { code } } }",
        i={"factId": fact, "action": "REPLACE", "reason": "he said coffee", "objectValue": "coffee"},
    )
    told = corrected["data"]["correctFact"]
    assert told["fact"] == {"objectValue": "coffee"} and told["before"]["validTo"] and told["reopened"] == []

    ids = {"keep": made["Bob"], "merge": made["Bobby"]}
    await ask("mutation($keep: ID!, $merge: ID!) { mergeEntities(keepId: $keep, mergeId: $merge) { mergedId } }", **ids)
    back = await ask(
        "mutation($id: ID!) { unmergeEntity(entityId: $id) { entity { entityId canonical facts { totalCount } } } }",
        id=made["Bobby"],
    )
    assert back["data"]["unmergeEntity"]["entity"] == {
        "entityId": made["Bobby"],
        "canonical": "Bobby",
        "facts": {"totalCount": 1},
    }
    apart = await ask(
        "mutation($keep: ID!, $merge: ID!) { keepEntitiesApart(entityId: $keep, otherId: $merge) }", **ids
    )
    assert apart["data"] == {"keepEntitiesApart": True}
    assert (await ask("{ duplicateEntities { reason } }"))["data"]["duplicateEntities"] == []
