"""The profile `memory`: small enough for every request, and enough for an assistant that lives with its memory."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.gateway.mcp.client import Talk, near, over_stdio
from tests.gateway.processes import serving
from ugs.identity import Principal
from ugs.recall.token_budget import estimate_tokens
from ugs_gateway.mcp.server import Profile, to_tool, tools_of
from ugs_gateway.mcp.tools.base import MemoryTool

MAX_LIST_TOKENS = 2_000
PLAYERS = ("Amara", "Bjorn", "Chidi", "Dolores", "Emeka", "Fatima", "Gustav", "Hiroko", "Ingrid", "Jerome")


def test_the_list_of_tools_is_small() -> None:
    listed = [to_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in offered()]
    assert 5 <= len(listed) <= 8
    assert estimate_tokens(json.dumps({"tools": listed}, separators=(",", ":"))) <= MAX_LIST_TOKENS


def offered() -> tuple[MemoryTool, ...]:
    return tools_of(Profile.MEMORY)


def test_the_extended_profile_has_all_of_it() -> None:
    assert {tool.name for tool in offered()} <= {tool.name for tool in tools_of(Profile.EXTENDED)}


class Assistant:
    """An assistant that only has the profile `memory`; it counts what it does."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.steps = talk, 0

    async def do(self, tool: str, **arguments: Any) -> Any:
        self.steps += 1
        return await self.talk(tool, **arguments)

    async def remember(self, text: str, *facts: dict[str, Any], **more: Any) -> Any:
        return await self.do("remember", text=text, facts=list(facts), **more)

    async def facts(self, query: str, **more: Any) -> list[str]:
        """The texts of the facts that are recalled, best first."""
        found = await self.do("recall", query=query, kinds=["fact"], **more)
        assert found["tokens"] <= found["budget_tokens"]
        return [item["text"] for item in found["items"]]

    async def first(self, query: str, **more: Any) -> Any:
        return (await self.do("recall", query=query, kinds=["fact"], **more))["items"][0]


def said(subject: str, predicate: str, value: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "value": value, **more}


async def live_with_it(talk: Talk) -> None:
    """Sixty steps: remember, ask, correct, ask about the past, why, what has changed, merge, forget."""
    me = Assistant(talk)
    month_ago = (datetime.now(UTC) - timedelta(days=30)).isoformat()
    week_ago = (datetime.now(UTC) - timedelta(days=7)).isoformat()
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    await first_days(me, month_ago, week_ago)
    await corrections(me)
    await looking_back(me, yesterday)
    await tidying(me)
    assert me.steps >= 60


async def first_days(me: Assistant, month_ago: str, week_ago: str) -> None:
    await me.remember("Ada moved to Bern.", said("Ada", "lives in", "Bern", valid_from=month_ago, single=True))
    moved = await me.remember("Ada has moved to Rome.", said("Ada", "lives in", "Rome", valid_from=week_ago))
    assert len(moved["superseded"]) == 1 and moved["facts"][0]["created"]
    home = await me.facts("where does Ada live")
    assert home[0] == "Ada lives in Rome" and "Ada lives in Bern" not in home
    then = (datetime.now(UTC) - timedelta(days=20)).isoformat()
    assert (await me.facts("where did Ada live", as_of=then))[0] == "Ada lives in Bern"
    for drink in ("green tea", "water", "cocoa"):
        done = await me.remember(f"Ada drinks {drink}.", said("Ada", "drinks", drink))
        assert done["superseded"] == []
    assert (await me.facts("what tea does Ada drink"))[0] == "Ada drinks green tea"
    for number in range(10):
        await me.remember(f"{PLAYERS[number]} plays chess.", said(PLAYERS[number], "plays", "chess"))
    found = await me.do("recall", query="who plays chess", kinds=["fact"], limit=4)
    assert len(found["items"]) == 4 and found["omitted"] == 6
    small = await me.do("recall", query="who plays chess", budget_tokens=150)
    assert 0 < small["tokens"] <= 150 and small["omitted"]
    await me.remember("Ada works for Globex.", {"subject": "Ada", "predicate": "works for", "object": "Globex"})
    await me.remember("Globex is in Berlin.", said("Globex", "located in", "Berlin"))
    assert "Globex located in Berlin" in await me.facts("where is Ada's company located")
    await me.remember("The spare key is under the blue pot.")
    assert "blue pot" in (await me.do("recall", query="where is the spare key"))["items"][0]["text"]
    again = await me.remember("Ada drinks water, she says.", said("Ada", "drinks", "water"))
    assert [fact["created"] for fact in again["facts"]] == [False]


async def corrections(me: Assistant) -> None:
    home = await me.first("where does Ada live")
    done = await me.do("correct", fact_id=home["id"], action="replace", value="Oslo", reason="Ada lives in Oslo now.")
    assert done["fact"]["object"] == "Oslo" and done["ended"]["object"] == "Rome" and done["ended"]["valid_to"]
    homes = await me.facts("where does Ada live")
    assert homes[0] == "Ada lives in Oslo" and "Ada lives in Rome" not in homes
    cocoa = await me.first("Ada cocoa")
    await me.do("correct", fact_id=cocoa["id"], action="end", reason="She gave it up.")
    assert "Ada drinks cocoa" not in await me.facts("what does Ada drink")
    tea = await me.first("Ada green tea")
    swapped = await me.do("correct", fact_id=tea["id"], action="replace", value="black tea", reason="It is black tea.")
    assert swapped["ended"]["object"] == "green tea"
    assert (await me.facts("what tea does Ada drink"))[0] == "Ada drinks black tea"
    wrong = await me.remember("Ada owns a yacht.", said("Ada", "owns", "a yacht"))
    id = wrong["facts"][0]["fact_id"]
    await me.do("correct", fact_id=id, action="retract", reason="That was a joke.")
    assert "Ada owns a yacht" not in await me.facts("who owns a yacht")
    me.steps += 1
    assert (await me.talk.refused("why", fact_id=id))["code"] == "FACT_NOT_FOUND"


async def looking_back(me: Assistant, yesterday: str) -> None:
    home = await me.first("where does Ada live")
    told = await me.do("why", fact_id=home["id"])
    assert [note["text"] for note in told["notes"]] == ["Ada lives in Oslo now."]
    assert [fact["object"] for fact in told["replaced"]] == ["Rome", "Bern"] and told["replaced_by"] == []
    assert told["events"][0]["event"] == "FactAdded"
    seen, page = [], await me.do("changed", since=yesterday, limit=20)
    while True:
        seen += page["changes"]
        if "next_cursor" not in page:
            break
        page = await me.do("changed", cursor=page["next_cursor"], limit=20)
    positions = [change["position"] for change in seen]
    assert positions == sorted(set(positions))
    assert {"FactAdded", "FactSuperseded", "NoteAdded", "FactDeleted"} <= {change["event"] for change in seen}
    assert any(change.get("fact", {}).get("object") == "Oslo" for change in seen)
    assert (await me.do("changed", since="2999-01-01T00:00:00Z"))["changes"] == []


async def tidying(me: Assistant) -> None:
    await me.remember("Grace Hopper likes tea.", said("Grace Hopper", "likes", "tea"))
    await me.remember("Grace Hoper likes cake.", said("Grace Hoper", "likes", "cake"))
    suggested = (await me.do("merge", action="suggest", limit=100))["suggestions"]
    assert {"Grace Hopper", "Grace Hoper"} in [{one["keep"]["name"], one["merge"]["name"]} for one in suggested]
    plan = await me.do("merge", action="preview", keep="Grace Hopper", merge="Grace Hoper")
    assert [fact["object"] for fact in plan["moved"]] == ["cake"] and not plan["merged"]
    assert (await me.do("merge", action="merge", keep="Grace Hopper", merge="Grace Hoper"))["merged"]
    assert sorted(await me.facts("what does Grace Hoper like")) == ["Grace Hopper likes cake", "Grace Hopper likes tea"]
    for number in range(4):
        await me.do("forget", kind="entity", id=PLAYERS[number])
    assert len(await me.facts("who plays chess")) == 6
    cake = await me.first("Grace cake")
    await me.do("forget", kind="fact", id=cake["id"])
    assert await me.facts("what does Grace Hopper like") == ["Grace Hopper likes tea"]
    key = (await me.do("recall", query="spare key pot", kinds=["note"]))["items"][0]
    await me.do("forget", kind="note", id=key["id"])
    found = await me.do("recall", query="spare key pot", kinds=["note"])
    assert not any("blue pot" in item["text"] for item in found["items"])


@pytest.mark.parametrize("url", ["memory:", "sqlite:"])
async def test_an_assistant_lives_with_it(url: str, tmp_path: Path) -> None:
    store = url if url == "memory:" else f"sqlite:///{tmp_path / 'memory.db'}"
    async with near(store, Profile.MEMORY) as talk:
        await live_with_it(talk)


@pytest.mark.parametrize("options", [(), ("--store", "sqlite:///{}/memory.db")])
async def test_an_assistant_lives_with_it_over_stdio(options: tuple[str, ...], tmp_path: Path) -> None:
    given = [option.format(tmp_path) for option in options]
    async with over_stdio(tmp_path, "--profile", "memory", *given) as talk:
        await live_with_it(talk)


async def test_an_assistant_lives_with_it_over_http(tmp_path: Path) -> None:
    options = ["--mcp-profile", "memory", "--store", f"sqlite:///{tmp_path / 'memory.db'}"]
    with serving(tmp_path, *options) as gateway:
        async with Client(f"{gateway.url}/mcp") as client:
            await live_with_it(Talk(client))


async def test_refusals_name_the_arguments_of_the_tools() -> None:
    async with near(profile=Profile.MEMORY) as talk:
        for arguments, field in (
            ({"text": " "}, "text"),
            ({"text": "x", "facts": [said("Ada", "is", "here", object="Bob")]}, "facts[0].value"),
            ({"text": "x", "facts": [said("Ada", "is", "here", valid_from="soon")]}, "facts[0].valid_from"),
        ):
            refusal = await talk.refused("remember", **arguments)
            assert refusal["details"]["field"] == field and field in refusal["message"]
        assert (await talk.refused("recall", query="x", budget_tokens=0))["code"] == "LIMIT_EXCEEDED"
        assert "budget_tokens" in (await talk.refused("recall", query="x", budget_tokens=0))["message"]
        assert (await talk.refused("recall", query="x", kinds=["gossip"]))["code"] == "INVALID_ARGUMENT"
        assert (await talk.refused("changed", since="x"))["details"]["field"] == "since"
        assert (await talk.refused("merge", action="merge"))["details"]["field"] == "keep"
        assert (await talk.refused("forget", kind="entity", id="nobody"))["code"] == "ENTITY_NOT_FOUND"
        done = await talk("remember", text="Ada is here", facts=[said("Ada", "is", "here")])
        given = {"fact_id": done["facts"][0]["fact_id"], "reason": "so"}
        assert (await talk.refused("correct", action="replace", **given))["details"]["field"] == "value"
        assert (await talk.refused("correct", action="end", value="x", **given))["details"]["field"] == "action"


async def test_a_reader_reads_only() -> None:
    async with near(profile=Profile.MEMORY, principal=Principal("eve", frozenset({"reader"}))) as talk:
        assert (await talk("recall", query="anything"))["items"] == []
        assert (await talk("merge", action="suggest"))["suggestions"] == []
        assert (await talk.refused("remember", text="x"))["code"] == "FORBIDDEN"
        assert (await talk.refused("forget", kind="note", id="x"))["code"] == "FORBIDDEN"


async def test_what_is_refused_changes_no_predicate() -> None:
    """A predicate becomes single-valued with the note that asks for it, or not at all."""
    async with near(profile=Profile.MEMORY) as talk:
        facts = [said("Ada", "lives in", "Bern", single=True), said("Ada", "likes", "x" * 5_000)]
        await talk.refused("remember", text="both", facts=facts)
        for place in ("Bern", "Rome"):
            done = await talk("remember", text=place, facts=[said("Ada", "lives in", place)])
            assert done["superseded"] == [], "nobody has made it single-valued"
        done = await talk("remember", text="at last", facts=[said("Ada", "lives in", "Oslo", single=True)])
        assert done["superseded"]
        changes = (await talk("changed"))["changes"]
        assert {change["fact"]["object"] for change in changes if "fact" in change} == {"Bern", "Rome", "Oslo"}
