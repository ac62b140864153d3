"""Every tool whose answer is a list takes `limit` and `cursor`; exceptions have a reason."""

from __future__ import annotations

import msgspec

from tests.gateway.mcp.client import near
from ugs_gateway.mcp.server import Profile, tools_of
from ugs_gateway.mcp.tools.base import MemoryTool

OF_THE_SEED = "as the seed has it; `list_nodes`, `list_connections` and `search` have pages"
NOT_PAGED = {
    **dict.fromkeys(
        ("query_nodes", "query_connections", "get_connected_nodes", "search_content", "get_ontology"), OF_THE_SEED
    ),
    "recall": "a selection within a budget, not a list: the answer says how many are left out",
    "history": "its cursor is a position of the log: `before`, from `next_before`",
    "cypher": "the query says SKIP and LIMIT; the answer says whether rows are left out",
    "merge": "pairs are compared anew at each call: decide about the first, then ask for more",
    "undo": "the effect of one command; the answer says how many changes are not shown",
    "add_fact": "what one fact ended",
}
NO_LIST = {
    "correct": "one fact, and those that it had ended",
    "forget": "what was asked for",
    "remember": "the facts of one note, as many as were given",
    "propose": "the proposals of one note, as many as were given",
    "why": "one fact with its evidence",
}
"""Tools whose answers are not described in detail, and that list nothing."""


def all_tools() -> dict[str, MemoryTool]:
    return {tool.name: tool for profile in Profile for tool in tools_of(profile)}


def lists(tool: MemoryTool) -> bool:
    """Whether an answer may be a list: it says so, or does not say what it is."""
    described = tool.answers.get("properties")
    return described is None or any(one.get("type") == "array" for one in described.values())


def takes(tool: MemoryTool) -> set[str]:
    return {field.name for field in msgspec.structs.fields(tool.takes)}


def test_every_list_has_limit_and_cursor_or_a_reason() -> None:
    unpaged = {name for name, tool in all_tools().items() if lists(tool) and not {"limit", "cursor"} <= takes(tool)}
    assert unpaged == NOT_PAGED.keys() | NO_LIST.keys()


def test_a_cursor_comes_with_a_limit() -> None:
    assert [name for name, tool in all_tools().items() if "cursor" in takes(tool) and "limit" not in takes(tool)] == []


async def test_stored_programs_come_page_by_page() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        query = {"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}
        program = {"version": 1, "statements": [query]}
        made = [(await talk("program", action="create", program=program, name=name))["id"] for name in "abc"]
        first = await talk("program", action="list", limit=2)
        rest = await talk("program", action="list", limit=2, cursor=first["next_cursor"])
        assert [row["id"] for row in (*first["programs"], *rest["programs"])] == made[::-1]
        assert "next_cursor" not in rest
        for cursor in ("x", first["next_cursor"][:-2]):
            assert (await talk.refused("program", action="list", cursor=cursor))["code"] in ("INVALID_ARGUMENT", "E005")
