"""Generated schemas: what an ontology yields, answered both ways, and never broken by growth."""

import json
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLSchema, find_breaking_changes
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.errors import LimitExceeded
from ugs.graph.api import Graph
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType, TypeProperties
from ugs.ontology.history import Addition, ConnectionTypeAdded, NodeTypeAdded, PropertyAdded, list_additions
from ugs.ontology.properties import Owner, PropertyDefinition, PropertyKind
from ugs.system import System
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.generated.names import Naming, plural, to_pascal_case, to_property_name
from ugs_schema.generated.schema import TypedSchema

STATUS = PropertyDefinition("status", PropertyKind.STRING, True, ("active", "done"), None, "active", "Where it stands")
RANK = PropertyDefinition("rank", PropertyKind.INTEGER)
SHARE = PropertyDefinition("share of all", PropertyKind.NUMBER, True)
OPEN = PropertyDefinition("open", PropertyKind.BOOLEAN)
CONNECTIONS = (
    ConnectionType("NextAction", ("Project",), ("Action",)),
    ConnectionType("RELATED_TO", ("Project", "Action"), ("Project", "Action", "Person")),
)
PROPERTIES = (
    TypeProperties(Owner.NODE, "Project", (STATUS, RANK)),
    TypeProperties(Owner.NODE, "Action", (SHARE, OPEN)),
    TypeProperties(Owner.CONNECTION, "NextAction", (PropertyDefinition("priority", PropertyKind.STRING),)),
)


class Door:
    """Asks a generated schema both ways."""

    def __init__(self, system: System, schema: TypedSchema) -> None:
        self.context = RequestContext(system)
        self.operations = OperationExecutor(schema.core, roots=schema.roots)

    async def __call__(self, query: str, **variables: Any) -> Any:
        """The answer, which both ways agree about."""
        prepared = self.operations.prepare(query)
        assert not prepared.errors, prepared.errors
        answer = await self.operations.answer(prepared, self.context, variables)
        if not isinstance(answer, bytes):
            assert not answer.errors, answer.errors
            return answer.data
        executed = await self.operations.execute(prepared, self.context, variables)
        assert not executed.errors and executed.data == json.loads(answer)["data"]
        return executed.data

    async def compiled(self, query: str, **variables: Any) -> Any:
        """The answer of a query that must go the quick way."""
        assert isinstance(await self.operations.answer(self.operations.prepare(query), self.context, variables), bytes)
        return await self(query, **variables)

    async def refused(self, query: str, **variables: Any) -> str:
        answer = await self.operations.answer(self.operations.prepare(query), self.context, variables)
        assert not isinstance(answer, bytes) and answer.errors
        return str(getattr(answer.errors[0].original_error, "code", answer.errors[0].message))


async def opened(system: System) -> Door:
    await Memory(system).create_ontology(["Project", "Action", "Person"], CONNECTIONS, properties=PROPERTIES)
    async with system.session() as session:
        return Door(system, TypedSchema("default", await list_additions(session, "default")))


CREATE = "mutation($p: CreateProjectInput!, $a: CreateActionInput!) { p: createProject(input: $p) { node { id status rank } warnings { code } clientMutationId } a: createAction(input: $a) { node { id share_of_all } } }"
NEXT = "mutation($in: ConnectNextActionInput!) { connectNextAction(input: $in) { id } }"
RELATE = "mutation($in: ConnectRelatedToInput!) { connectRelatedTo(input: $in) { id warnings { code } } }"


async def filled(ask: Door) -> tuple[str, str]:
    made = await ask(CREATE, p={"rank": 3, "content": "# Kitchen", "clientMutationId": "c"}, a={"share_of_all": 0.5})
    assert (made["p"]["node"]["status"], made["p"]["clientMutationId"]) == ("active", "c")
    project, action = made["p"]["node"]["id"], made["a"]["node"]["id"]
    await ask(NEXT, **{"in": {"from": project, "to": action, "priority": "high", "content": "soon"}})
    await ask(RELATE, **{"in": {"from": project, "to": action}})
    await ask(RELATE, **{"in": {"from": project, "to": project}})
    return project, action


async def test_typed_questions_go_the_quick_way_and_agree_with_the_executor() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        project, action = await filled(ask)
        deep = """query($w: ProjectWhere) { projects(where: $w, first: 5) { totalCount __typename
          nodes { id __typename type status rank label version properties content { format encoding size path body }
            nextAction(first: 2) { totalCount pageInfo { hasNextPage endCursor }
              edges { cursor priority properties content { body } node { id open share_of_all
                 nextActionOf(first: 2, where: {status: {eq: "active"}}) { nodes { status } } } } } } } }"""
        [found] = (await ask.compiled(deep, w={"status": {"eq": "active"}, "rank": {"gte": 2, "lt": 9}}))["projects"][
            "nodes"
        ]
        assert (found["status"], found["rank"], found["content"]["body"], found["content"]["encoding"]) == (
            "active",
            3,
            "# Kitchen",
            "UTF8",
        )
        [edge] = found["nextAction"]["edges"]
        assert (edge["priority"], edge["content"], edge["node"]["id"]) == ("high", {"body": "soon"}, action)
        assert edge["node"]["nextActionOf"]["nodes"] == [{"status": "active"}]
        union = """{ projects(first: 3) { nodes { relatedTo(first: 5) { nodes { __typename ... on MemoryNode { id }
          ... on Action { share_of_all x: relatedToOf(first: 2) { totalCount } } ... on Project { x: nextAction(first: 1) { totalCount } } } } } } }"""
        [found] = (await ask.compiled(union))["projects"]["nodes"]
        assert found["relatedTo"]["nodes"] == [
            {"__typename": "Action", "id": action, "share_of_all": 0.5, "x": {"totalCount": 1}},
            {"__typename": "Project", "id": project, "x": {"totalCount": 1}},
        ]
        one = await ask.compiled("query($id: ID!) { project(id: $id) { id } action(id: $id) { id } }", id=project)
        assert one == {"project": {"id": project}, "action": None}
        assert await ask("{ ontology projects(at: {position: 1}) { nodes { id } } }") == {
            "ontology": "default",
            "projects": {"nodes": []},
        }


async def test_lists_come_by_degree_in_pages() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        project, _ = await filled(ask)
        await ask('mutation { createProject(input: {status: "done"}) { node { id } } }')
        query = """query($a: String) { projects(first: 1, after: $a, orderBy: [{field: DEGREE, direction: DESC}]) {
          nodes { id status } pageInfo { hasNextPage endCursor } } }"""

        first = (await ask.compiled(query))["projects"]
        second = (await ask.compiled(query, a=first["pageInfo"]["endCursor"]))["projects"]

        assert [node["id"] for node in first["nodes"]] == [project]
        assert [node["status"] for node in second["nodes"]] == ["done"]
        assert (first["pageInfo"]["hasNextPage"], second["pageInfo"]["hasNextPage"]) == (True, False)


async def test_nodes_are_found_by_the_nodes_they_are_connected_to() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        project, _ = await filled(ask)
        other = (await ask("mutation { createProject(input: {}) { node { id } } }"))["createProject"]["node"]["id"]
        query = """query($w: ProjectWhere) { projects(where: $w, orderBy: [{property: "rank", nulls: LAST}]) {
          nodes { id } } }"""
        half, whole = {"share_of_all": {"eq": 0.5}}, {"share_of_all": {"eq": 1}}
        for where, expected in [
            ({}, [project, other]),
            ({"nextAction": {"some": half}}, [project]),
            ({"nextAction": {"some": whole}}, []),
            ({"nextAction": {"none": half}}, [other]),
            ({"nextAction": {"every": whole}}, [other]),
            ({"nextAction": {"some": {"nextActionOf": {"some": {"rank": {"eq": 3}}}}}}, [project]),
        ]:
            found = await ask.compiled(query, w=where)
            assert [node["id"] for node in found["projects"]["nodes"]] == expected, where
        deep: dict[str, Any] = {}
        for name in ("nextActionOf", "nextAction", "nextActionOf", "nextAction"):
            deep = {name: {"some": deep}}
        assert await ask.refused(query, w=deep) == "LIMIT_EXCEEDED"


async def test_conditions_mean_what_they_say() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        for number, status in enumerate(("active", "done", "active")):
            await ask(
                "mutation($in: CreateProjectInput!) { createProject(input: $in) { node { id } } }",
                **{"in": {"status": status, "rank": number, "properties": {"tag": f"t{number}"}}},
            )
        query = "query($w: ProjectWhere) { projects(where: $w, orderBy: [{field: CREATED}]) { nodes { rank } } }"
        for where, ranks in [
            (None, [0, 1, 2]),
            ({"status": {"eq": "active"}}, [0, 2]),
            ({"status": {"ne": "active"}}, [1]),
            ({"status": {"in": ["done", "x"]}}, [1]),
            ({"status": {"contains": "on"}}, [1]),
            ({"status": {"startsWith": "a", "endsWith": "e"}}, [0, 2]),
            ({"rank": {"gt": 0, "lte": 2}}, [1, 2]),
            ({"rank": {"exists": False}}, []),
            ({"rank": {"isNull": False}}, [0, 1, 2]),
            ({"rank": {"isNull": True}}, []),
            ({"nextAction": {"none": {}}}, [0, 1, 2]),
            ({"nextAction": {"some": {"open": {"isNull": True}}}}, []),
            ({"match": {"tag": "t1"}}, [1]),
            ({"or": [{"rank": {"eq": 0}}, {"and": [{"status": {"eq": "done"}}, {"rank": {"eq": 1}}]}]}, [0, 1]),
            ({"not": {"status": {"eq": "active"}}}, [1]),
            ({"id": ["nobody", "not an id"]}, []),
            ({"created": {"gt": 0, "lt": 9_007_199_254_740_992}}, [0, 1, 2]),
        ]:
            found = await ask.compiled(query, w=where)
            assert sorted(node["rank"] for node in found["projects"]["nodes"]) == ranks, where
        assert await ask.refused(query, w={"match": [1]}) == "E005"
        many = {"or": [{"rank": {"eq": 1}}] * 101}
        assert await ask.refused(query, w=many) == "LIMIT_EXCEEDED"


async def test_changes_keep_to_their_type_and_its_definitions() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        project, action = await filled(ask)
        update = "mutation($in: UpdateProjectInput!) { updateProject(input: $in) { node { status rank version } } }"
        changed = await ask(update, **{"in": {"id": project, "status": "done", "properties": {"more": 1}}})
        assert changed["updateProject"]["node"] == {"status": "done", "rank": 3, "version": 2}
        assert await ask.refused(update, **{"in": {"id": action, "status": "done"}}) == "NODE_NOT_FOUND"
        assert await ask.refused(update, **{"in": {"id": project, "status": "lost"}}) == "INVALID_PROPERTY_VALUE"
        assert await ask.refused(update, **{"in": {"id": project, "status": None}}) == "INVALID_PROPERTY_VALUE"
        assert await ask.refused(update, **{"in": {"id": project}}) == "INVALID_ARGUMENT"
        assert await ask.refused(update, **{"in": {"id": project, "properties": [1]}}) == "INVALID_ARGUMENT"
        assert await ask.refused(NEXT, **{"in": {"from": action, "to": action}}) == "INVALID_TOPOLOGY"
        assert "share_of_all" in await ask.refused(CREATE, p={}, a={})
        again = {"rank": 1, "idempotencyKey": "k"}
        create = "mutation($in: CreateProjectInput!) { createProject(input: $in) { node { id } } }"
        assert await ask(create, **{"in": again}) == await ask(create, **{"in": again})
        delete = "mutation($id: ID!) { deleteProject(id: $id) { deletedId deletedConnectionIds } }"
        assert await ask.refused(delete, id=action) == "NODE_NOT_FOUND"
        gone = (await ask(delete, id=project))["deleteProject"]
        assert gone["deletedId"] == project and len(gone["deletedConnectionIds"]) == 3
        assert await ask.refused('mutation { deleteConnection(id: "x") { deletedId } }') == "CONNECTION_NOT_FOUND"


async def test_values_of_another_kind_show_as_nothing() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        await Graph(system).add_node("p", "Project", {"status": 5, "rank": "x"})
        found = await ask.compiled("{ projects { nodes { status rank properties content { body } } } }")
        assert found["projects"]["nodes"] == [
            {"status": None, "rank": None, "properties": {"status": 5, "rank": "x"}, "content": None}
        ]


def test_names_are_safe_and_mean_something() -> None:
    assert [to_pascal_case(name, "Type") for name in ("Project", "next action", "NEXT_ACTION", "v2.1", "2nd", "日本", "FAQ")] == [
        "Project", "NextAction", "NextAction", "V21", "T2nd", "Type", "FAQ",
    ]  # fmt: skip
    assert [plural(name) for name in ("project", "story", "day", "box", "process")] == [
        "projects",
        "stories",
        "days",
        "boxes",
        "processes",
    ]
    assert [to_property_name(key) for key in ("status", "follow_up", "two words", "__x", "1st", "é")] == [
        "status",
        "follow_up",
        "two_words",
        "x",
        "p_1st",
        "p",
    ]


def test_names_that_would_collide_get_a_number() -> None:
    number = PropertyKind.INTEGER
    naming = Naming(
        [
            *(
                NodeTypeAdded(name)
                for name in ("Query", "query", "Project", "project", "Projects", "Snapshot", "ProjectEdge")
            ),
            ConnectionTypeAdded(ConnectionType("status", ("Project",), ("Project",))),
            *(
                PropertyAdded(Owner.NODE, "Project", PropertyDefinition(name, number))
                for name in ("status", "id", "two words", "two_words")
            ),
        ]
    )
    assert [kind.name for kind in naming.kinds.values()] == [
        "Query_2",
        "Query_3",
        "Project",
        "Project_2",
        "Projects",
        "Snapshot",
        "ProjectEdge_2",
    ]
    assert naming.kinds["Projects"].singular == "projects_2" and naming.kinds["Snapshot"].singular == "snapshot_2"
    assert list(naming.kinds["Project"].sides) == ["status", "statusOf"]
    assert list(naming.kinds["Project"].properties) == ["status_2", "id_2", "two_words", "two_words_2"]


def test_an_ontology_too_large_for_a_schema_says_so() -> None:
    with pytest.raises(LimitExceeded):
        TypedSchema("x", [NodeTypeAdded(f"t{number}") for number in range(1_001)])


WATCH = "subscription($after: Position, $where: ProjectWhere) { told: projectChanged(afterSeq: $after, where: $where) { id seq change node { id status rank nextAction { totalCount } } } }"


async def test_nodes_of_a_type_are_watched_as_they_come_change_and_go() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        project, _ = await filled(ask)
        other = (await ask(CREATE, p={"status": "done"}, a={"share_of_all": 1.0}))["p"]["node"]["id"]
        await ask("mutation($id: ID!) { updateProject(input: {id: $id, rank: 9}) { node { id } } }", id=project)
        prepared = ask.operations.prepare(WATCH)
        assert not prepared.errors
        stream = await ask.operations.subscribe(prepared, ask.context, {"after": 0})
        heard = [await anext(stream) for _ in range(3)]
        told = [one.data["told"] for one in heard]
        assert [(one["id"], one["change"]) for one in told] == [
            (project, "ADDED"), (other, "ADDED"), (project, "CHANGED"),
        ]  # fmt: skip
        assert told[0]["node"] == {"id": project, "status": "active", "rank": 9, "nextAction": {"totalCount": 1}}
        await ask("mutation($id: ID!) { deleteProject(id: $id) { deletedId } }", id=other)
        last = (await anext(stream)).data["told"]
        assert (last["id"], last["change"], last["node"]) == (other, "DELETED", None)
        await stream.aclose()
        chosen = {"after": told[0]["seq"], "where": {"status": {"eq": "active"}}}
        stream = await ask.operations.subscribe(prepared, ask.context, chosen)
        assert (await anext(stream)).data["told"]["seq"] == told[2]["seq"]
        await stream.aclose()
    assert TypedSchema("empty", []).core.subscription_type is None


async def test_types_named_like_parts_of_the_graph_are_changed_and_watched_as_what_they_are() -> None:
    """`updateNode` and `elementChanged` mean something else in the schema of the graph, which is compiled."""
    async with System.at_url("memory:") as system:
        await Memory(system).create_ontology(["Node", "Element"], ())
        async with system.session() as session:
            ask = Door(system, TypedSchema("default", await list_additions(session, "default")))
        fields = ask.operations.core.mutation_type.fields, ask.operations.core.subscription_type.fields
        create, update = (
            next(name for name in fields[0] if name.startswith(f"{act}Node")) for act in ("create", "update")
        )
        made = (await ask(f'mutation {{ {create}(input: {{content: "a"}}) {{ node {{ id }} }} }}'))[create]["node"][
            "id"
        ]
        changed = await ask(f'mutation {{ {update}(input: {{id: "{made}", content: "b"}}) {{ node {{ id }} }} }}')
        assert changed[update]["node"]["id"] == made
        watch = next(name for name in fields[1] if name.startswith("element"))
        await ask('mutation { createElement(input: {content: "x"}) { node { id } } }')
        prepared = ask.operations.prepare(f"subscription {{ {watch}(afterSeq: 0) {{ change }} }}")
        assert not prepared.errors, prepared.errors
        stream = await ask.operations.subscribe(prepared, ask.context)
        assert (await anext(stream)).data == {watch: {"change": "ADDED"}}
        await stream.aclose()


TYPES = st.sampled_from(
    [
        "Project",
        "ProjectChange",
        "project",
        "Action",
        "PROJECT EDGE",
        "Query",
        "日本",
        "Later",
        "status",
        "ActionConnection",
        "RelatedToTarget",
    ]
)
KEYS = st.sampled_from(["status", "id", "next", "two words", "nextOf", "content", "projects"])
KINDS = st.sampled_from(list(PropertyKind))


@st.composite
def growths(draw: st.DrawFn) -> list[Addition]:
    """Random ontologies, in the order in which they grew."""
    nodes: list[str] = []
    links: list[str] = []
    defined: set[tuple[Owner, str, str]] = set()
    steps: list[Addition] = []
    for _ in range(draw(st.integers(1, 9))):
        turn = draw(st.integers(0, 2))
        if turn == 0 or not nodes:
            name = draw(TYPES)
            if name not in nodes:
                nodes.append(name)
                steps.append(NodeTypeAdded(name))
        elif turn == 1:
            name = draw(st.sampled_from(["next", "Related To", "status", "Project", "NEXT"]))
            if name not in links:
                links.append(name)
                ends = st.lists(TYPES, min_size=1, max_size=3).map(tuple)
                steps.append(ConnectionTypeAdded(ConnectionType(name, draw(ends), draw(ends))))
        else:
            owner = draw(st.sampled_from(list(Owner))) if links else Owner.NODE
            key = (owner, draw(st.sampled_from(nodes if owner is Owner.NODE else links)), draw(KEYS))
            if key not in defined:
                defined.add(key)
                steps.append(PropertyAdded(*key[:2], PropertyDefinition(key[2], draw(KINDS))))
    return steps


@settings(max_examples=60, deadline=None)
@given(growths())
def test_growth_never_breaks_a_client(steps: list[Addition]) -> None:
    before: GraphQLSchema | None = None
    for count in range(len(steps) + 1):
        now = TypedSchema("default", steps[:count]).core
        if before is not None:
            assert find_breaking_changes(before, now) == []
        before = now


@pytest.mark.parametrize("store", ["memory:", "sqlite:///{}/typed.db"])
async def test_the_connections_of_a_node_are_aggregated_by_their_own_properties(tmp_path: Path, store: str) -> None:
    async with System.at_url(store.format(tmp_path)) as system:
        ask = await opened(system)
        project, action = await filled(ask)
        asked = """query($id: ID!) { project(id: $id) { nextAction { aggregate { __typename count max(of: "created")
          groupBy(by: ["priority"]) { keys count min(of: "priority") } } }
          relatedTo(first: 1) { nodes { ... on Action { id } } aggregate { count } } } }"""
        found = (await ask.compiled(asked, id=project))["project"]
        assert isinstance(found["nextAction"]["aggregate"].pop("max"), int)
        assert found == {
            "nextAction": {
                "aggregate": {
                    "__typename": "NextActionTargetAggregate",
                    "count": 1,
                    "groupBy": [{"keys": ["high"], "count": 1, "min": "high"}],
                }
            },
            "relatedTo": {"nodes": [{"id": action}], "aggregate": {"count": 2}},
        }
        other = 'query($id: ID!) { project(id: $id) { nextAction { aggregate { max(of: "rank") } } } }'
        assert await ask.refused(other, id=project) == "INVALID_ARGUMENT"
