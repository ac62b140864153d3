"""Every changing tool keeps a retry key and an expected version, or says here why not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.mcp.client import Talk, near, refusal_in
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.proposals.api import Proposals
from ugs_gateway.mcp.call_guards import EXPECTED_VERSION, RETRY_KEY
from ugs_gateway.mcp.server import Profile, tools_of
from ugs_gateway.mcp.tools.base import MemoryTool

CHANGING = {tool.name: tool for profile in Profile for tool in tools_of(profile) if not tool.hints.read_only}
READS_FIRST = "finds what it is about by reading first, which a retry would no longer find"
WITHOUT_KEY = dict.fromkeys(("forget", "merge"), READS_FIRST)
ADDS = "adds something of its own, so no version can be meant"
GROWS = "an ontology only grows; what is there already is refused"
WITHOUT_VERSION = {
    **dict.fromkeys(("create_node", "create_connection", "add_fact", "remember"), ADDS),
    **dict.fromkeys(("create_ontology", "add_node_type", "add_connection_type", "define_property"), GROWS),
    **dict.fromkeys(("correct", "forget", "merge"), "facts, notes and entities have no versions"),
    "propose": ADDS,
    "predicates": "predicates have no versions",
    "undo": "refuses what something else changed since",
    "proposals": "is refused once somebody has decided",
    "program": "programs have no versions",
    "send_message": "the actor decides by the state it finds, in the same transaction",
}
ONTOLOGY = {
    "node_types": ["Project", "Action", "task"],
    "connection_types": [{"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]}],
}


def lacking(name: str) -> set[str]:
    return {tool.name for tool in CHANGING.values() if not getattr(tool, name)}


def test_every_changing_tool_keeps_a_retry_key_or_has_a_reason() -> None:
    assert lacking("keeps_key") == set(WITHOUT_KEY)


def test_every_changing_tool_keeps_an_expected_version_or_has_a_reason() -> None:
    assert lacking("keeps_version") == set(WITHOUT_VERSION)


async def call(talk: Talk, tool: str, arguments: dict[str, Any], **meta: Any) -> Any:
    names = {"key": RETRY_KEY, "version": EXPECTED_VERSION}
    result = await talk.client.call_tool(tool, arguments, meta={names[name]: value for name, value in meta.items()})
    return refusal_in(result)["code"] if result.is_error else result.structured_content


async def filled(talk: Talk) -> dict[str, dict[str, Any]]:
    """A call of every changing tool that keeps a key, by name, in an order in which they can be done."""
    await talk("create_ontology", **ONTOLOGY)
    made: dict[str, Any] = {}
    for name, type in (("a", "Project"), ("b", "Action"), ("c", "Project"), ("d", "Action")):
        made[name] = (await talk("create_node", type=type, content=name, format="markdown"))["node_id"]
    ends = {"type": "NextAction", "from_node_id": made["a"], "to_node_id": made["b"]}
    edges = [(await talk("create_connection", **ends))["connection_id"] for _ in range(2)]
    task = (await talk("create_node", type="task", content="", format="text", properties={"title": "Call Ann"}))[
        "node_id"
    ]
    await talk("create_node", type="Project", content="withdrawn", format="markdown")
    withdrawn = await position(talk)
    stated = {"subject": "Bob", "predicate": "is", "value": "tall"}
    fact = (await talk("remember", text="Bob is tall.", facts=[stated]))["facts"][0]["fact_id"]
    assert talk.memory is not None
    said = NoteToIngest(text="Cy is old.", relations=(Stated("Cy", "is", Object(value="old")),))
    proposal = (await Proposals(talk.memory.system, actor="somebody else").propose(said)).proposals[0]
    return {
        "predicates": {"action": "configure", "name": "is", "cardinality": "single"},
        "undo": {"transaction": withdrawn, "preview": False},
        "propose": {"text": "Cy is young.", "facts": [{"subject": "Cy", "predicate": "is", "value": "young"}]},
        "proposals": {"action": "approve", "proposal_id": proposal.proposal_id},
        "correct": {"fact_id": fact, "action": "retract", "reason": "He is not."},
        "add_node_type": {"type_name": "Person"},
        "add_connection_type": {"type_name": "Knows", "from_types": ["Person"], "to_types": ["Person"]},
        "define_property": {"type_name": "Project", "name": "rank", "kind": "integer"},
        "create_node": {"type": "Project", "content": "x", "format": "markdown"},
        "update_node": {"node_id": made["a"], "properties": {"rank": 2}},
        "delete_node": {"node_id": made["c"]},
        "create_connection": ends,
        "update_connection": {"connection_id": edges[0], "content": "noted"},
        "delete_connection": {"connection_id": edges[1]},
        "add_fact": {"subject": "Ada", "predicate": "lives in", "value": "Bern", "note": "she said"},
        "remember": {"text": "Ada plays chess.", "facts": [{"subject": "Ada", "predicate": "plays", "value": "chess"}]},
        "program": {"action": "create", "text": "! MATCH (p) RETURN p;\n", "name": "one"},
        "send_message": {"node_id": task, "type": "start"},
    }


async def position(talk: Talk) -> int:
    events = (await talk("history", limit=1))["events"]
    return int(events[0]["position"])


async def test_a_call_that_is_sent_again_with_its_key_changes_nothing_more() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        calls = await filled(talk)
        assert calls.keys() | {"create_ontology"} == {tool.name for tool in CHANGING.values() if tool.keeps_key}
        for number, (name, arguments) in enumerate(calls.items()):
            before = await position(talk)
            first = await call(talk, name, arguments, key=f"k{number}")
            assert isinstance(first, dict), (name, first)
            after = await position(talk)
            assert after > before, name
            again = await call(talk, name, arguments, key=f"k{number}")
            assert isinstance(again, dict) and await position(talk) == after, (name, again)
            assert {**again, "facts": 0} == {**first, "facts": 0}, name


async def test_an_ontology_is_created_once() -> None:
    async with near() as talk:
        first, again = [await call(talk, "create_ontology", ONTOLOGY, key="o") for _ in range(2)]

        assert first == again == {"success": True}
        assert await call(talk, "create_ontology", ONTOLOGY, key="p") == "ONTOLOGY_ALREADY_EXISTS"


async def test_another_call_with_the_same_key_is_refused() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        await talk("create_ontology", **ONTOLOGY)
        given = {"type": "Project", "content": "x", "format": "markdown"}
        await call(talk, "create_node", given, key="k")

        assert await call(talk, "create_node", {**given, "content": "y"}, key="k") == "IDEMPOTENCY_CONFLICT"


@pytest.mark.parametrize(
    ("tool", "arguments", "id"),
    [
        ("update_node", {"properties": {"rank": 1}}, "node_id"),
        ("delete_node", {}, "node_id"),
        ("update_connection", {"content": "new"}, "connection_id"),
        ("delete_connection", {}, "connection_id"),
    ],
)
async def test_a_change_is_refused_at_another_version(tool: str, arguments: dict[str, Any], id: str) -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        calls = await filled(talk)
        given = {id: calls[tool.replace("delete", "update")][id], **arguments}
        before = await position(talk)

        assert await call(talk, tool, given, version=2) == "VERSION_CONFLICT"
        assert await position(talk) == before
        assert isinstance(await call(talk, tool, given, version=1), dict)


@pytest.mark.parametrize(
    "meta", [{"key": 7}, {"key": ""}, {"key": "x" * 10_000}, {"version": "1"}, {"version": -1}, {"version": True}]
)
async def test_guards_of_a_wrong_kind_are_refused(meta: dict[str, Any]) -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        node = (await filled(talk))["update_node"]
        before = await position(talk)

        told = await call(talk, "update_node", node, **meta)

        assert isinstance(told, str) and told != "INTERNAL"
        assert await position(talk) == before


@pytest.mark.parametrize("tool", [*sorted(WITHOUT_KEY), "create_node"])
async def test_a_guard_that_is_not_kept_is_refused(tool: str) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "correct": {"fact_id": "x", "action": "end", "reason": "y"},
        "forget": {"kind": "note", "id": "x"},
        "merge": {"action": "merge", "keep": "a", "merge": "b"},
        "create_node": {"type": "Project", "content": "x", "format": "markdown"},
    }
    async with near(profile=Profile.EXTENDED) as talk:
        await talk("create_ontology", **ONTOLOGY)
        meta = {"version": 1} if tool == "create_node" else {"key": "k"}
        assert await call(talk, tool, arguments[tool], **meta) == "INVALID_ARGUMENT"


def test_no_schema_of_a_tool_grows() -> None:
    for tool in CHANGING.values():
        assert isinstance(tool, MemoryTool)
        assert not {"idempotency_key", "expected_version"} & set(tool.takes.__struct_fields__), tool.name
