"""The MCP tool for programs, and the page that teaches the language."""

from __future__ import annotations

from tests.gateway.mcp.client import Talk, near
from ugs.identity import Principal
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.language_reference import SYNTAX
from ugs.programs.text import parse_program
from ugs_gateway.mcp.server import Profile

TEXT = "@param who: string\n! MATCH (p) WHERE p.label = $who RETURN p;\n+ MATCH (p)-[r]-(n) WHERE p.label = $who RETURN p, r, n;"
CREATE = {"action": "create", "text": TEXT, "name": "Around"}


async def person(talk: Talk, name: str) -> str:
    made = await talk("create_node", type="Person", content=name, format="text", properties={"label": name})
    return str(made["node_id"])


async def test_an_agent_writes_keeps_and_runs_programs() -> None:
    writer = Principal("ann", frozenset({"writer"}))
    async with near(profile=Profile.EXTENDED, principal=writer) as talk:
        knows = {"name": "KNOWS", "from_types": ["Person"], "to_types": ["Person"]}
        await talk("create_ontology", node_types=["Person"], connection_types=[knows])
        ann, bob = [await person(talk, name) for name in ("Ann", "Bob")]
        await talk("create_connection", type="KNOWS", from_node_id=ann, to_node_id=bob)
        assert (await talk("program", action="validate", text=TEXT))["valid"]
        made = await talk("program", **CREATE)
        assert (made["name"], made["owner_id"], made["operation_count"]) == ("Around", "ann", 2)
        found = await talk("program", action="execute", program_id=made["id"], params={"who": "Ann"})
        assert found["result"]["nodes"][0]["label"] == "Ann" and "aborted" not in found
        assert [(link["from_label"], link["to_label"]) for link in found["result"]["links"]] == [("Ann", "Bob")]
        deck = [{"program_id": made["id"], "params": {"who": "Ann"}}, {"text": "! MATCH (x:X) RETURN x;"}]
        chained = await talk("program", action="chain", deck=deck)
        assert chained["aborted"]["program"] == 1 and chained["result"] == found["result"]
        assert "@param who: string" in (await talk("program", action="get", program_id=made["id"]))["text"]
        assert [one["name"] for one in (await talk("program", action="list", search="aro"))["programs"]] == ["Around"]
        changed = await talk("program", action="update", program_id=made["id"], name="New")
        assert changed["name"] == "New"
        refused = await talk.refused("program", action="create", text="+ MATCH (n) DELETE n;")
        assert refused["code"] == "PROGRAM_INVALID"
        assert (await talk.refused("program", action="execute", text="? IF"))["code"] == "PROGRAM_TEXT"
        assert (await talk.refused("program", action="execute"))["code"] == "INVALID_ARGUMENT"
        assert (await talk.refused("program", action="delete"))["code"] == "INVALID_ARGUMENT"
        assert await talk("program", action="delete", program_id=made["id"]) == {"deleted": made["id"]}


async def test_readers_run_and_do_not_keep() -> None:
    async with near(profile=Profile.EXTENDED, principal=Principal("bob", frozenset({"reader"}))) as talk:
        assert (await talk("program", action="execute", text="+ MATCH (n) RETURN n;"))["log"][0]["op"] == "+"
        assert (await talk.refused("program", **CREATE))["code"] == "FORBIDDEN"
        page = await talk.client.read_resource("ugs://program/syntax")
        assert page.contents[0].text == SYNTAX  # type: ignore[union-attr]


def test_the_page_is_true() -> None:
    example = SYNTAX.split("```")[1]
    assert len(parse_program(example).statements) == 4
    assert all(f"`{path}`" in SYNTAX for path in ENDPOINTS)
