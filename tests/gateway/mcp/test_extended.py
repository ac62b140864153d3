"""What goes beyond the eighteen tools: further tools, resources, prompts, pages and limits."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError

from tests.gateway.mcp.client import Talk, near, refusal_in
from ugs.errors import AnswerTooLarge, LimitExceeded
from ugs.identity import Principal
from ugs.ontology.api import Memory
from ugs_gateway.mcp import truncation
from ugs_gateway.mcp.inputs import Nothing
from ugs_gateway.mcp.prompts import GUIDES
from ugs_gateway.mcp.server import Profile, call_tool
from ugs_gateway.mcp.tools import core as tools
from ugs_gateway.mcp.tools.base import READS, MemoryTool
from ugs_gateway.mcp.tools.core import TOOLS
from ugs_gateway.mcp.tools.extended import EXTENDED
from ugs_gateway.mcp.truncation import Bounds, truncate

ONTOLOGY: dict[str, Any] = {
    "node_types": ["Project", "Action"],
    "connection_types": [{"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]}],
}


async def remember(talk: Talk, count: int) -> list[str]:
    """So many actions, and a project that leads to each."""
    await talk("create_ontology", **ONTOLOGY)
    made = []
    for number in range(count):
        words = {"title": f"call number{number}", "n": number}
        action = await talk("create_node", type="Action", content=f"text {number}", format="text", properties=words)
        made.append(action["node_id"])
    project = (await talk("create_node", type="Project", content="# Kitchen", format="markdown"))["node_id"]
    for id in made:
        await talk("create_connection", type="NextAction", from_node_id=project, to_node_id=id)
    return made


async def pages(talk: Talk, tool: str, name: str, **arguments: Any) -> list[list[Any]]:
    """Everything that a tool gives page by page."""
    found, more = [], {}
    while True:
        page = await talk(tool, **arguments, **more)
        found.append(page[name])
        if "next_cursor" not in page:
            return found
        more = {"cursor": page["next_cursor"]}


def test_every_further_tool_is_described_like_the_others() -> None:
    names = [tool.name for tool in (*TOOLS, *EXTENDED)]
    assert len(set(names)) == len(names)
    for tool in EXTENDED:
        assert tool.title and 0 < len(tool.description) < 120
        assert tool.answers["type"] == "object"


async def test_messages_reach_the_actors_of_nodes() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        await talk("create_ontology", node_types=["task"], connection_types=[])
        task = (await talk("create_node", type="task", content="", format="text", properties={"title": "Call Ann"}))[
            "node_id"
        ]
        told = (await talk("send_message", node_id=task, type="get"))["response"]
        assert told["success"] is True and "Call Ann" in str(told)
        await talk("send_message", node_id=task, type="start")
        done = (await talk("send_message", node_id=task, type="complete", payload={"result": "done"}))["response"]
        assert done["success"] is True
        state = (await talk("send_message", node_id=task, type="get"))["response"]
        assert "completed" in str(state)
        told = await talk.refused("send_message", node_id=task, type="dance")
        assert (told["code"], told["message"]) == ("MESSAGE_FAILED", "Unknown message type: dance")
        assert (await talk.refused("send_message", node_id="nobody", type="get"))["code"]
    async with near(profile=Profile.EXTENDED, principal=Principal("reader", frozenset({"reader"}))) as talk:
        assert (await talk.refused("send_message", node_id="x", type="start"))["code"] == "FORBIDDEN"


async def test_the_extended_profile_pages_through_everything() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        offered = [tool.name for tool in (await talk.client.list_tools()).tools]
        assert offered == [tool.name for tool in (*TOOLS, *EXTENDED)]
        made = await remember(talk, 7)
        nodes = await pages(talk, "list_nodes", "nodes", type="Action", limit=3)
        assert [len(page) for page in nodes] == [3, 3, 1]
        assert sorted(node["id"] for page in nodes for node in page) == sorted(made)
        assert nodes[0][0] == await talk("get_node", node_id=nodes[0][0]["id"])
        edges = await pages(talk, "list_connections", "connections", type="NextAction", limit=4)
        assert [edge["to_node_id"] for page in edges for edge in page] == made
        hits = await pages(talk, "search", "hits", query="call", limit=5)
        assert sorted(hit["node"]["id"] for page in hits for hit in page) == sorted(made)
        assert [hit["node"]["id"] for hit in (await talk("search", query="number3"))["hits"]] == [made[3]]
        for cursor in ("x", "[1]", '["a","b"]', '[1,"a\\u0000b"]', f'[{10**30},"a"]'):
            assert (await talk.refused("list_nodes", cursor=cursor))["code"] == "INVALID_ARGUMENT"


async def test_looking_back_and_following_addresses() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        [id] = await remember(talk, 1)
        await talk("update_node", node_id=id, properties={"n": 5})
        found = await talk("resolve", address=f"@({id}:1)")
        assert found["resolved"] and found["version"] == 1 and found["value"]["properties"]["n"] == 0
        nowhere = {"address": "@(nobody)", "resolved": False, "value": "@(nobody)"}
        assert await talk("resolve", address="@(nobody)") == nowhere
        first = await talk("history", element_id=id, limit=1)
        assert [event["type"] for event in first["events"]] == ["NodeUpdated"]
        before = await talk("history", element_id=id, before=first["next_before"])
        assert [event["type"] for event in before["events"]] == ["NodeAdded"] and "next_before" not in before
        start, end = before["events"][0]["position"], first["events"][0]["position"]
        compared = await talk("changes", after=start, until=end, element_id=id)
        assert [(one["id"], one["change"]) for one in compared["changes"]] == [(id, "changed")]
        part = await talk("changes", after=0, limit=1)
        rest = await talk("changes", after=0, until=part["until"], cursor=part["next_cursor"])
        assert part["changes"][0]["id"] not in [one["id"] for one in rest["changes"]]
        places = ({"after": 9_999}, {"after": end, "until": start}, {"after": 0, "cursor": "x"}, {"after": -1})
        for bad in (*places, {"after": 2**63}, {"after": 0, "until": 10**6}, {"after": "3"}, {"after": 1.5}):
            assert (await talk.refused("changes", **bad))["code"] not in ("INTERNAL", "TIMEOUT")


async def test_facts_and_who_may_see_them() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        lives = {"subject": "Ada", "predicate": "lives in"}
        made = await talk("add_fact", **lives, value="London", note="as she told", valid_from="2026-01-01T00:00:00Z")
        assert made["created"] and made["fact"]["object"] == "London"
        await talk("add_fact", subject="Ada", predicate="knows", object="Grace", note="as she told")
        found = (await talk("active_facts", subject="Ada"))["facts"]
        assert {(fact["predicate"], fact["object"]) for fact in found} == {("lives in", "London"), ("knows", "Grace")}
        assert (await talk.refused("add_fact", **lives, note="x"))["code"] == "INVALID_FACT"
        assert (await talk.refused("add_fact", **lives, value="x"))["code"] == "INVALID_ARGUMENT"
        types = {event["type"] for event in (await talk("history"))["events"]}
        assert "FactAdded" in types
    reader = Principal("me", frozenset({"writer"}))
    async with near(profile=Profile.EXTENDED, principal=reader) as talk:
        await talk("add_fact", **lives, value="London", note="as she told")
        assert "FactAdded" in {event["type"] for event in (await talk("history"))["events"]}


async def test_asking_in_cypher() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        made = await remember(talk, 3)
        query = "MATCH (p:Project)-[:NextAction]->(a) WHERE a.n >= $n RETURN a.n AS n, a ORDER BY n"
        found = await talk("cypher", query=query, params={"n": 1})
        assert found["columns"] == ["n", "a"] and not found["truncated"]
        assert [(row[0], row[1]["id"]) for row in found["rows"]] == [(1, made[1]), (2, made[2])]
        assert (await talk("cypher", query="MATCH (a:Action) RETURN a.n", limit=2))["truncated"]
        for bad in ("MATCH (a", "CREATE (a)", "RETURN $x", ""):
            assert (await talk.refused("cypher", query=bad))["code"] not in ("INTERNAL", "TIMEOUT")


async def test_points_and_remarks_of_a_query_reach_an_agent() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        query = "MATCH (a), (b) RETURN DISTINCT $home AS home, point.distance($home, point({x: 4, y: 6})) AS far"
        await remember(talk, 1)
        found = await talk("cypher", query=query, params={"home": {"@point": {"x": 1, "y": 2}}})
        assert found["rows"] == [[{"type": "Point", "coordinates": [1.0, 2.0], "crs": "cartesian"}, 5.0]]
        (remark,) = found["notifications"]
        assert remark.startswith("CARTESIAN_PRODUCT: ") and remark.endswith("(line 1, column 1)")


async def test_what_is_too_long_is_cut_and_says_so() -> None:
    async with near(profile=Profile.EXTENDED, bounds=Bounds(bytes=1_000)) as talk:
        await remember(talk, 60)
        result = await talk.client.call_tool("query_nodes", {})
        ids = result.structured_content["node_ids"]
        assert 0 < len(ids) < 61
        assert result.meta["ugs/cut"] == {"field": "node_ids", "shown": len(ids), "of": 61}
        assert f"first {len(ids)} of 61 entries" in result.content[1].text
        long = await talk("create_node", type="Action", content="é" * 5_000, format="text")
        part = await talk("read_content", **long, offset=300, length=400)
        assert (part["total"], part["next_offset"]) == (5_000, 700)
        assert (await talk.refused("read_content", node_id="x"))["code"] == "CONNECTION_NOT_FOUND"
        with pytest.raises(MCPError, match="read_content"):
            await talk.client.read_resource(f"ugs://node/{long['node_id']}")
        assert len((await talk.client.call_tool("query_nodes", {"type": "Project"})).content) == 1


async def test_of_very_many_only_the_first_are_read_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MAX_LISTED", 10)
    async with near() as talk:
        await remember(talk, 60)
        for tool, given, of in (
            ("query_nodes", {}, 61),
            ("query_nodes", {"type": "Action"}, 60),
            ("query_connections", {"type": "NextAction"}, 60),
            ("search_content", {"query": "TEXT"}, None),
            ("search_content", {"query": "text", "limit": 20}, None),
        ):
            result = await talk.client.call_tool(tool, given)
            [(field, ids)] = result.structured_content.items()
            assert len(set(ids)) == 10
            assert result.meta["ugs/cut"] == {"field": field, "shown": 10, "of": of}, tool
            told = "first 10 entries; there are more." if of is None else f"first 10 of {of} entries."
            assert told in result.content[1].text
        for tool, given in (("search_content", {"query": "text", "limit": 10}), ("query_nodes", {"type": "Project"})):
            assert "ugs/cut" not in ((await talk.client.call_tool(tool, given)).meta or {})


async def test_an_answer_is_cut_at_its_longest_part() -> None:
    answer = {"a": ["x" * 10] * 100, "b": "y" * 50}
    data, cut = await truncate(answer, 500)
    assert cut == truncation.Truncation("a", len(data["a"]), 100) and data["b"] == answer["b"]
    with pytest.raises(AnswerTooLarge, match="ask for less"):
        await truncate({"n": 1}, 1)
    with pytest.raises(AnswerTooLarge):
        await truncate({"found": ["a"], "properties": {"text": "z" * 190}}, 50)
    with pytest.raises(LimitExceeded, match="90 characters"):
        await truncate({"content": "z" * 90}, 10)


@given(st.lists(st.text(max_size=20), max_size=300), st.integers(70, 3_000))
def test_a_cut_list_is_the_longest_beginning_that_fits(items: list[str], most: int) -> None:
    answer = {"items": items, "n": 1}
    data, cut = asyncio.run(truncate(answer, most))
    kept = len(data["items"])
    assert data == {"items": items[:kept], "n": 1} and len(msgspec.json.encode(data)) <= most
    if cut is None:
        assert kept == len(items)
    else:
        assert cut == truncation.Truncation("items", kept, len(items))
        assert len(msgspec.json.encode({"items": items[: kept + 1], "n": 1})) > most


async def test_a_large_answer_is_measured_once_and_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    monkeypatch.setattr(truncation, "_size", lambda value: measured.append(len(whole := encode(value))) or whole)
    encode, rows = msgspec.json.encode, [["x" * 1_000]] * 5_000
    await truncate({"rows": rows, "truncated": False}, 100_000)
    assert max(measured) < 100_000 and sum(measured) < 6_000_000


async def test_a_call_that_takes_too_long_is_stopped() -> None:
    async def forever(memory: Memory, given: Any) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    slow = MemoryTool("slow", "", "", Nothing, {}, READS, forever)
    nobody: Any = lambda: type("M", (), {"principal": Principal()})()  # noqa: E731
    result = await call_tool(slow, {}, nobody, bounds=Bounds(seconds=0.05))
    assert refusal_in(result)["code"] == "TIMEOUT"


async def test_resources_show_nodes_connections_and_the_ontology() -> None:
    async with near() as talk:
        client = talk.client
        with pytest.raises(MCPError, match="has not been created yet"):
            await client.read_resource("ugs://ontology")
        [action] = await remember(talk, 1)
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        assert listed == ["ugs://ontology", "ugs://program/syntax", "ui://ugs/graph"]
        templates = (await client.list_resource_templates()).resource_templates
        uris = ["ugs://node/{id}", "ugs://connection/{id}", "ugs://neighbourhood/{ids}"]
        assert [one.uri_template for one in templates] == uris
        [yaml] = (await client.read_resource("ugs://ontology")).contents
        assert "name: NextAction" in yaml.text and yaml.mime_type == "text/yaml"
        known, content = (await client.read_resource(f"ugs://node/{action}")).contents
        assert '"type":"Action"' in known.text and content.text == "text 0"
        picture = await talk("create_node", type="Action", content="iVBO", encoding="base64", format="png")
        blob = (await client.read_resource(f"ugs://node/{picture['node_id']}")).contents[1]
        assert (blob.blob, blob.mime_type) == ("iVBO", "image/png")
        [edge] = (await talk("query_connections"))["connection_ids"]
        assert len((await client.read_resource(f"ugs://connection/{edge}")).contents) == 1
        for nowhere in ("ugs://node/nobody", "ugs://node/../etc", "file:///etc/passwd", "ugs://ontology/x"):
            with pytest.raises(MCPError):
                await client.read_resource(nowhere)


async def test_a_stranger_to_all_roles_reads_nothing() -> None:
    async with near(principal=Principal("me", frozenset())) as talk:
        assert (await talk.refused("get_ontology"))["code"] == "FORBIDDEN"
        with pytest.raises(MCPError, match="needs the role reader"):
            await talk.client.read_resource("ugs://ontology")


async def test_prompts_hold_their_arguments_and_nothing_else() -> None:
    async with near() as talk:
        prompts = (await talk.client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == [guide.name for guide in GUIDES]
        for prompt in prompts:
            given = {argument.name: "{evil} 42" for argument in prompt.arguments or ()}
            [message] = (await talk.client.get_prompt(prompt.name, given)).messages
            assert ("{evil} 42" in message.content.text) is bool(given)
        with pytest.raises(MCPError, match="needs the argument topic"):
            await talk.client.get_prompt("recall", {})
        with pytest.raises(MCPError, match="Unknown prompt"):
            await talk.client.get_prompt("no such prompt", {})


async def test_properties_can_be_defined_and_shown_as_json_schema() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        await talk("create_ontology", **ONTOLOGY)
        await talk("define_property", type_name="Action", name="status", enum=["next", "done"], default="next")
        schema = (await talk("get_json_schema"))["schema"]
        assert schema["$defs"]["Action"]["properties"]["status"]["enum"] == ["next", "done"]
        assert (await talk("get_ontology"))["properties"][0]["type"] == "Action"
        made = await talk("create_node", type="Action", content="", format="text")
        assert (await talk("get_node", **made))["properties"] == {"status": "next"}
        lost = {"type": "Action", "content": "", "format": "text", "properties": {"status": "lost"}}
        assert (await talk.refused("create_node", **lost))["code"] == "INVALID_PROPERTY_VALUE"
        again = {"type_name": "Action", "name": "status"}
        assert (await talk.refused("define_property", **again))["code"] == "INVALID_ARGUMENT"
        assert (await talk.refused("define_property", **again, kind="date"))["code"] == "INVALID_ARGUMENT"


async def test_long_content_is_refused_whole_and_read_in_parts() -> None:
    text = "".join(chr(200 + n % 50) for n in range(5_000))
    async with near(profile=Profile.EXTENDED, bounds=Bounds(bytes=4_000)) as talk:
        ids = await remember(talk, 2)
        await talk("update_node", node_id=ids[0], content=text, encoding="utf-8")
        [edge] = (await talk("query_connections", to_node_id=ids[0]))["connection_ids"]
        await talk("update_connection", connection_id=edge, content=text)
        assert (await talk("get_connection", connection_id=edge))["has_content"]
        for whole, tool, named in (
            ("get_node_content", "read_content", {"node_id": ids[0]}),
            ("get_connection_content", "get_connection_content", {"connection_id": edge}),
        ):
            refusal = await talk.refused(whole, **named)
            assert (refusal["code"], refusal["details"]["total"]) == ("LIMIT_EXCEEDED", 5_000)
            assert "offset and length" in refusal["message"]
            assert (await talk.refused(tool, **named, offset=0, length=4_900))["code"] == "LIMIT_EXCEEDED"
            read, offset = "", 0
            while len(read) < 5_000:
                part = await talk(tool, **named, offset=offset, length=700)
                assert (part["offset"], part["total"]) == (offset, 5_000)
                read, offset = read + part["content"], part.get("next_offset", 0)
            assert read == text
        assert (await talk.refused("get_connection_content", connection_id="x"))["code"] == "CONNECTION_NOT_FOUND"
    for profile, many in ((Profile.CORE, 18), (Profile.READ_ONLY, 9)):
        async with near(profile=profile) as talk:
            assert len((await talk.client.list_tools()).tools) == many


async def test_refusals_of_facts_name_the_arguments_of_the_tool() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        fact = {"subject": "Ada", "predicate": "is", "value": "here", "note": "n"}
        for changed, field in (
            ({"subject": " "}, "subject"),
            ({"value": None}, "value"),
            ({"object": "Bob"}, "value"),
            ({"value": "x" * 3_000}, "value"),
            ({"value": None, "object": " "}, "object"),
            ({"note": " "}, "note"),
            ({"predicate": ""}, "predicate"),
            ({"scope": ""}, "scope"),
            ({"valid_from": "yesterday"}, "valid_from"),
            ({"valid_to": "2026-01-01T00:00:00"}, "valid_to"),
            ({"valid_from": "2026-01-02T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}, "valid_to"),
        ):
            given = {name: value for name, value in {**fact, **changed}.items() if value is not None}
            refusal = await talk.refused("add_fact", **given)
            assert (refusal["code"], refusal["details"].get("field")) == ("INVALID_FACT", field), changed
            assert field in refusal["message"]
            assert "validT" not in refusal["message"] and "objectValue" not in refusal["message"]
        for given in ({"subject": "Ada", "as_of": "now"}, {"subject": ""}):
            refusal = await talk.refused("active_facts", **given)
            assert refusal["details"]["field"] in given
        tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
        assert set(tools["add_fact"].input_schema["required"]) == {"subject", "predicate", "note"}
        assert "single-valued" in (tools["add_fact"].description or "")
        for value in ("London", "Paris"):
            told = await talk("add_fact", subject="Ada", predicate="likes", value=value, note="n")
            assert told["superseded"] == []


async def test_an_answer_that_cannot_be_cut_is_refused() -> None:
    async with near(profile=Profile.EXTENDED, bounds=Bounds(bytes=4_000)) as talk:
        [id, *_] = await remember(talk, 2)
        await talk("update_node", node_id=id, properties={"text": "z" * 5_000})
        refusal = await talk.refused("get_node", node_id=id)
        assert (refusal["code"], refusal["details"]["limit"]) == ("ANSWER_TOO_LARGE", 4_000)
        with pytest.raises(MCPError) as raised:
            await talk.client.read_resource(f"ugs://node/{id}")
        assert raised.value.error.data["code"] == "ANSWER_TOO_LARGE"


async def test_predicates_and_subjects_are_listed_by_pages_and_configured_by_name() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        for number in range(3):
            await talk("add_fact", subject=f"Ann {number}", predicate=f"likes {number}", value="tea", note="said")
        first = await talk("predicates", limit=2)
        rest = await talk("predicates", limit=2, cursor=first["next_cursor"])
        names = [one["name"] for one in (*first["predicates"], *rest["predicates"])]
        assert names == ["likes 0", "likes 1", "likes 2"] and "next_cursor" not in rest
        done = await talk("predicates", action="configure", name="likes 1", cardinality="single")
        assert done == {
            "predicate": {"name": "likes 1", "cardinality": "single", "status": "active"},
            "conflicts": 0,
        }
        assert (await talk.refused("predicates", action="configure"))["details"]["field"] == "name"
        assert (await talk.refused("predicates", action="configure", name="x"))["code"] == "PREDICATE_NOT_FOUND"
        assert (await talk.refused("predicates", cursor="x"))["code"] == "INVALID_ARGUMENT"
        page = await talk("subjects", limit=2)
        more = await talk("subjects", limit=2, cursor=page["next_cursor"])
        assert [one["name"] for one in (*page["subjects"], *more["subjects"])] == ["Ann 0", "Ann 1", "Ann 2"]
        assert (await talk("subjects", search="nn 1"))["subjects"][0]["name"] == "Ann 1"


async def test_what_was_believed_then_and_a_page_of_it() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        for number in range(3):
            await talk("add_fact", subject="Ann", predicate="likes", value=f"tea {number}", note="said")
        first = await talk("active_facts", subject="Ann", limit=2)
        rest = await talk("active_facts", subject="Ann", limit=2, cursor=first["next_cursor"])
        assert sorted(one["object"] for one in (*first["facts"], *rest["facts"])) == ["tea 0", "tea 1", "tea 2"]
        late = await talk("active_facts", subject="Ann", known_at="2999-01-01T00:00:00Z")
        assert len(late["facts"]) == 3
        assert (await talk.refused("active_facts", subject="Ann", known_at="soon"))["code"] == "INVALID_FACT"


async def test_versions_come_with_content_and_an_undo_is_previewed_first() -> None:
    async with near(profile=Profile.EXTENDED) as talk:
        await talk("create_ontology", node_types=["Memo"], connection_types=[])
        node = (await talk("create_node", type="Memo", content="one", format="text"))["node_id"]
        await talk("update_node", node_id=node, content="two", encoding="utf-8")
        newest = await talk("versions", element_id=node, limit=1)
        older = await talk("versions", element_id=node, cursor=newest["next_cursor"])
        bodies = [one["content"]["body"] for one in (*newest["versions"], *older["versions"])]
        assert bodies == ["two", "one"]
        position = newest["versions"][0]["position"]

        plan = await talk("undo", positions=[position])
        assert plan["done"] is False and "content" in plan["changes"][0]["fields"]
        assert (await talk("undo", positions=[position], preview=False))["done"] is True
        assert (await talk("get_node_content", node_id=node))["content"] == "one"
        assert (await talk.refused("undo", positions=[position], preview=False))["code"] == "UNDO_CONFLICT"
        assert (await talk.refused("undo", positions=[]))["code"] == "INVALID_ARGUMENT"
