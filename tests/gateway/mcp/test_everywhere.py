"""Seed 004 through every door and on every store: its scenarios and its acceptance criteria, restarts and files included.

One process per store and transport tells everything; over HTTP it is told twice, to an MCP client and through GraphQL.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from tests.gateway.mcp.endpoints import Faces, Opened, Refused, gateway_door, stdio_door
from tests.gateway.mcp.test_files import files, registry
from ugs.system import System
from ugs_conformance.support.store_fixture import fixture

SCENARIOS = fixture("ont_scenarios")["scenarios"]
GTD = fixture("ont_ontology")
STORES = [None, "sqlite", "postgresql", "neo4j"]


def place_of(store: str | None, folder: Path) -> str | None:
    if store in (None, "sqlite"):
        return None if store is None else f"sqlite:///{folder}/memory.db"
    return f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}=everywhere"


async def emptied(store: str | None, tmp_path: Path) -> str | None:
    """The address of an empty store; None for the files of the base folder themselves."""
    url = place_of(store, tmp_path)
    if url is not None:
        async with System.at_url(url) as system:
            await system.storage.wipe()
    return url


class Story:
    """Somebody who uses the tools and may restart the server; names of the seed stand for ids."""

    def __init__(self, opened: Opened, base: Path) -> None:
        self.opened, self.base = opened, base
        self.names: dict[str, str] = {}
        self.face = ""
        self._stack = AsyncExitStack()

    async def begin(self) -> None:
        self.faces: Faces = await self._stack.enter_async_context(self.opened())

    async def restart(self) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()
        await self.begin()

    def real(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.real(one) for one in value]
        return self.names.get(value, value) if isinstance(value, str) else value

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        return await self.faces[self.face](tool, {name: self.real(value) for name, value in arguments.items()})

    async def refused(self, tool: str, **arguments: Any) -> Refused:
        with pytest.raises(Refused) as refused:
            await self(tool, **arguments)
        return refused.value

    async def settled(self) -> dict[str, Any]:
        """The registry, once it has followed: beside MCP the files come a moment later."""
        wanted = sorted(await self("query_nodes")), sorted(await self("query_connections"))
        await eventually(lambda: tuple(sorted(part) for part in registry(self.base).values()) == wanted)
        return registry(self.base)


async def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0.02)
    assert holds()


@asynccontextmanager
async def telling(opened: Opened, base: Path) -> AsyncIterator[Story]:
    story = Story(opened, base)
    await story.begin()
    try:
        yield story
    finally:
        await story._stack.aclose()


async def given(story: Story, before: dict[str, Any]) -> None:
    if before.get("ontology"):
        await story("create_ontology", **before["ontology"])
    for node in before.get("nodes", ()):
        story.names[node["id"]] = await story(
            "create_node",
            type=node["type"],
            content=node.get("content", ""),
            format="markdown",
            properties=node.get("properties") or {},
        )
    for edge in before.get("connections", ()):
        story.names[edge["id"]] = await story(
            "create_connection", type=edge["type"], from_node_id=edge["from"], to_node_id=edge["to"]
        )


async def follow(story: Story, step: dict[str, Any], before: dict[str, Any]) -> None:
    if "check" in step:
        return await check(story, step, before)
    if "expect_error" in step:
        refused = await story.refused(step["tool"], **step["args"])
        assert refused.code == step["expect_error"]["code"]
        if "message" in step["expect_error"]:
            assert refused.message == step["expect_error"]["message"]
        return None
    answer = await story(step["tool"], **step["args"])
    if "bind" in step:
        story.names[step["bind"]] = answer
    if isinstance(step.get("expect"), dict):
        assert answer.items() >= step["expect"].items()
    elif "expect" in step:
        assert answer == story.real(step["expect"])
    if "expect_set" in step:
        assert sorted(answer) == sorted(story.real(step["expect_set"]))
    if "expect_count" in step:
        assert len(answer) == step["expect_count"]


async def check(story: Story, step: dict[str, Any], before: dict[str, Any]) -> None:
    found = await story.settled()
    if step["check"] == "registry":
        new = {kind: len(found[kind].keys() - before[kind].keys()) for kind in found}
        assert new == {"nodes": step["nodes"], "connections": step["connections"]}
    elif step["check"] == "registry_unchanged":
        assert found == before
    else:
        path = story.base / step["path"].replace("{", "").replace("}", "")
        for name, id in story.names.items():
            path = Path(str(path).replace(name, id))
        await eventually(lambda: path.exists() is (step["check"] == "file_exists"))


SEED = pytest.mark.clause(
    "ONT-174", "ONT-175", "ONT-176", "ONT-177", "ONT-178", "ONT-179", "ONT-180", "ONT-8", "ONT-193", "ONT-198", "ONT-199",
    "ONT-15", "ONT-19", "ONT-20", "ONT-106", "ONT-110", "ONT-171", "ONT-192", "ONT-195", "ONT-167", "ONT-141",
)  # fmt: skip


@SEED
@pytest.mark.parametrize("store", STORES)
async def test_the_seed_over_stdio(store: str | None, tmp_path: Path) -> None:
    base = tmp_path / "base"
    async with telling(stdio_door(base, await emptied(store, tmp_path)), base) as story:
        await everything(story)


@SEED
@pytest.mark.parametrize("store", STORES)
async def test_the_seed_over_http_and_graphql(store: str | None, tmp_path: Path) -> None:
    base = tmp_path / "base"
    async with telling(gateway_door(base, await emptied(store, tmp_path)), base) as story:
        await everything(story)


async def everything(story: Story) -> None:
    """The criteria and the scenarios, through each face of a process in turn; they share one restart."""
    for face in story.faces:
        story.face = face
        await before_there_is_an_ontology(story)
    await story("create_ontology", **first_ontology())
    await learn_everything(story)
    lasting = {}
    for face in story.faces:
        story.face = face
        await tell(story, SCENARIOS[0], until="restart")
        lasting[face] = dict(story.names), await something_lasting(story)
    await story.restart()
    for face, (names, made) in lasting.items():
        story.face, story.names = face, names
        await tell(story, SCENARIOS[0], behind="restart")
        await still_there(story, made)
    for face in story.faces:
        story.face = face
        for scenario in SCENARIOS[1:]:
            await forget(story)
            await tell(story, scenario)
        await forget(story)
        await criteria_of_ontologies(story)
        await criteria_of_elements(story)
        await criteria_of_questions(story)
        await criteria_of_files(story)


async def forget(story: Story) -> None:
    for id in await story("query_nodes"):
        await story("delete_node", node_id=id)


async def before_there_is_an_ontology(ask: Story) -> None:
    """AC10."""
    refusals: list[tuple[str, dict[str, Any]]] = [
        ("create_node", {"type": "Project", "content": "", "format": "markdown"}),
        ("create_connection", {"type": "NextAction", "from_node_id": "a", "to_node_id": "b"}),
        ("add_node_type", {"type_name": "Project"}),
        ("get_ontology", {}),
    ]
    for tool, arguments in refusals:
        assert (await ask.refused(tool, **arguments)).code == "ONTOLOGY_NOT_FOUND", tool
    assert await ask("query_nodes") == [] and await ask("search_content", query="x") == []


def first_ontology() -> dict[str, Any]:
    """That of the first scenario, which makes it itself."""
    step = next(step for step in SCENARIOS[0]["steps"] if step.get("tool") == "create_ontology")
    return dict(step["args"])


async def learn_everything(story: Story) -> None:
    """All types of all scenarios, so that one server can tell them one after another."""
    known = await story("get_ontology")
    for wanted in (*(scenario["given"].get("ontology") or {} for scenario in SCENARIOS), GTD):
        await learn(story, known, wanted)


async def tell(story: Story, scenario: dict[str, Any], until: str = "", behind: str = "") -> None:
    """A scenario, or the part of it before or behind a check."""
    steps = [*scenario["steps"], *scenario["then"]]
    place = next((at for at, step in enumerate(steps) if step.get("check") == (until or behind)), len(steps))
    if not behind:
        story.names = {}
        await given(story, {**scenario["given"], "ontology": None})
    before = await story.settled()
    for step in steps[place + 1 :] if behind else steps[:place]:
        if step.get("tool") == "create_ontology":
            assert (await story.refused("create_ontology", **step["args"])).code == "ONTOLOGY_ALREADY_EXISTS"
        else:
            await follow(story, step, before)


async def something_lasting(story: Story) -> tuple[str, str, str]:
    """AC1, AC2, AC20: two nodes and a connection that must be there after a restart."""
    project = await story(
        "create_node", type="Project", content="# K\u00fcche", format="markdown", properties={"status": "active"}
    )
    action = await story("create_node", type="Action", content="", format="markdown")
    link = {"type": "NextAction", "from_node_id": project, "to_node_id": action, "properties": {"p": 1}}
    return project, action, await story("create_connection", **link)


async def still_there(story: Story, made: tuple[str, str, str]) -> None:
    project, action, link = made
    node = await story("get_node", node_id=project)
    assert (node["type"], node["properties"], node["content_format"]) == ("Project", {"status": "active"}, "markdown")
    assert node["created"] == node["modified"] and node["created"].endswith("Z")
    assert await story("get_node_content", node_id=project) == "# K\u00fcche"
    edge = await story("get_connection", connection_id=link)
    ends = (edge["from_node_id"], edge["to_node_id"], edge["properties"], edge["has_content"])
    assert ends == (project, action, {"p": 1}, False)
    assert {project, action} <= registry(story.base)["nodes"].keys()


async def learn(story: Story, known: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Add what an ontology has and the known one has not."""
    for name in wanted.get("node_types", ()):
        if name not in known["node_types"]:
            await story("add_node_type", type_name=name)
            known["node_types"].append(name)
    for link in wanted.get("connection_types", ()):
        if link["name"] not in [one["name"] for one in known["connection_types"]]:
            told = {("type_name" if key == "name" else key): value for key, value in link.items()}
            await story("add_connection_type", **told)
            known["connection_types"].append(link)


async def criteria_of_ontologies(ask: Story) -> None:
    """AC4, AC8, AC9, AC10, AC17."""
    assert (await ask.refused("create_ontology", **GTD)).code == "ONTOLOGY_ALREADY_EXISTS"
    assert (await ask.refused("add_node_type", type_name="Project")).code == "TYPE_ALREADY_EXISTS"
    before = await ask("get_ontology")
    name, link = f"Document {ask.face}", f"RelatedTo {ask.face}"
    await ask("add_node_type", type_name=name)
    await ask("add_connection_type", type_name=link, from_types=["Project", "Action"], to_types=["Project", name])
    grown = await ask("get_ontology")
    assert grown["node_types"] == [*before["node_types"], name]
    assert grown["connection_types"][:-1] == before["connection_types"]
    assert (await ask.refused("create_node", type="Epic", content="", format="markdown")).code == "INVALID_NODE_TYPE"
    valid = {"connection_type": "NextAction", "from_node_type": "Project", "to_node_type": "Action"}
    assert await ask("validate_connection", **valid) is True
    assert await ask("validate_connection", **{**valid, "to_node_type": "Project"}) is False


async def criteria_of_elements(ask: Story) -> None:
    """AC5, AC6, AC7, AC9, AC11, AC12, AC13, AC14, AC19, AC20."""
    project = await ask(
        "create_node", type="Project", content="# K\u00fcche", format="markdown", properties={"status": "active"}
    )
    action = await ask("create_node", type="Action", content="", format="markdown")
    person = await ask("create_node", type="Person", content="Ann", format="text")
    assert len({project, action, person}) == 3
    first = await ask(
        "create_connection", type="NextAction", from_node_id=project, to_node_id=action, properties={"p": 1}
    )
    again = await ask("create_connection", type="NextAction", from_node_id=project, to_node_id=action)
    other = await ask(
        "create_connection", type=f"RelatedTo {ask.face}", from_node_id=action, to_node_id=project, content="notes"
    )
    refusals: list[tuple[str, dict[str, Any], str]] = [
        ("get_node", {"node_id": "x"}, "NODE_NOT_FOUND"),
        ("update_node", {"node_id": "x", "properties": {"a": 1}}, "NODE_NOT_FOUND"),
        ("delete_node", {"node_id": "x"}, "NODE_NOT_FOUND"),
        ("get_connection", {"connection_id": "x"}, "CONNECTION_NOT_FOUND"),
        ("create_connection", {"type": "NextAction", "from_node_id": "x", "to_node_id": action}, "NODE_NOT_FOUND"),
        (
            "create_connection",
            {"type": "Blocks", "from_node_id": project, "to_node_id": action},
            "INVALID_CONNECTION_TYPE",
        ),
        (
            "create_connection",
            {"type": "NextAction", "from_node_id": action, "to_node_id": project},
            "INVALID_TOPOLOGY",
        ),
        (
            "create_connection",
            {"type": "WaitingFor", "from_node_id": action, "to_node_id": person},
            "REQUIRED_PROPERTY_MISSING",
        ),
    ]
    before = await ask.settled()
    for tool, arguments, code in refusals:
        assert (await ask.refused(tool, **arguments)).code == code, (tool, arguments)
    assert await ask.settled() == before
    await ask(
        "create_connection",
        type="WaitingFor",
        from_node_id=action,
        to_node_id=person,
        properties={"since": "a", "follow_up_date": "b"},
    )
    await ask("delete_connection", connection_id=first)
    assert await ask("query_connections", type="NextAction") == [again]
    await ask("update_node", node_id=action, properties={"n": 1})
    await ask("update_node", node_id=action, properties={"m": True})
    assert (await ask("get_node", node_id=action))["properties"] == {"n": 1, "m": True}
    await ask("delete_node", node_id=project)
    assert (await ask.refused("get_connection", connection_id=again)).code == "CONNECTION_NOT_FOUND"
    assert (await ask.refused("get_connection", connection_id=other)).code == "CONNECTION_NOT_FOUND"
    assert sorted(await ask("query_nodes")) == sorted([action, person])
    assert await ask("get_connected_nodes", node_id=action, direction="in") == []
    for id in (action, person):
        await ask("delete_node", node_id=id)


async def criteria_of_questions(ask: Story) -> None:
    """AC3, AC15, AC16, AC18."""
    phone = {"status": "next", "context": "phone"}
    made = [
        await ask("create_node", type="Action", content=f"Farmhouse {n}", format="markdown", properties=properties)
        for n, properties in enumerate((phone, {**phone, "x": 1}, {"status": "next"}))
    ]
    picture = await ask("create_node", type="Action", content="ZmFybWhvdXNl", encoding="base64", format="png")
    project = await ask("create_node", type="Project", content="the FARMHOUSE", format="markdown")
    for id in made[:2]:
        await ask("create_connection", type="NextAction", from_node_id=project, to_node_id=id)
    assert sorted(await ask("query_nodes", type="Action", properties=phone)) == sorted(made[:2])
    assert sorted(await ask("query_nodes", type="Action", properties={})) == sorted([*made, picture])
    assert len(await ask("query_nodes")) == 5
    assert sorted(await ask("search_content", query="farmhouse")) == sorted([*made, project])
    assert sorted(await ask("search_content", query="farmhouse", node_type="Action")) == sorted(made)
    assert len(await ask("search_content", query="farmhouse", limit=2)) == 2
    assert await ask("search_content", query="nowhere") == []
    assert await ask("get_connected_nodes", node_id=project, direction="out", connection_type="NextAction") == made[:2]
    assert await ask("get_connected_nodes", node_id=made[0], direction="in") == [project]
    assert await ask("get_connected_nodes", node_id=made[0], direction="both") == [project]
    assert await ask("get_connected_nodes", node_id=made[2], direction="both") == []
    assert len(await ask("query_connections", from_node_id=project, type="NextAction")) == 2


async def criteria_of_files(ask: Story) -> None:
    """AC11, AC19, AC20: the files say what the tools say, whatever happened."""
    found = await ask.settled()
    ids = sorted(await ask("query_nodes"))
    assert sorted(found["nodes"]) == ids and len(found["connections"]) == 2
    paths = {one["content"]["path"] for one in found["nodes"].values()}
    await eventually(lambda: files(ask.base) == paths)
    for id in ids:
        assert found["nodes"][id]["modified"] == (await ask("get_node", node_id=id))["modified"]
