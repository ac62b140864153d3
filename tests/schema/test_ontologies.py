"""Ontologies and typed memory through GraphQL."""

from typing import Any

import pytest

from ugs.ontology.api import Memory
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.yaml_format import from_yaml, to_yaml
from ugs.system import System
from ugs_conformance.support.store_fixture import fixture
from ugs_schema import build_schema
from ugs_schema.context import RequestContext

SCHEMA = build_schema()
GTD = fixture("ont_ontology")
CREATE = "mutation C($in: CreateOntologyInput!) { createOntology(input: $in) { ontology { id name nodeTypes yaml enforcement connectionTypes { name fromTypes toTypes requiredProperties acyclic } } warnings { code id } clientMutationId } }"
REMEMBER = "mutation R($in: MemoryNodeInput!) { createMemoryNode(input: $in) { node { id type properties content { format encoding size path body } } event { type } } }"
CONNECT = "mutation C($in: ConnectionInput!) { createConnection(input: $in) { edge { id type from to content { body format } } } }"


async def ask(system: System, query: str, **variables: Any) -> dict[str, Any]:
    result = await SCHEMA.execute(query, variables, RequestContext(system))
    assert not result.errors, result.errors
    assert result.data is not None
    return result.data


async def refused(system: System, query: str, **variables: Any) -> str:
    result = await SCHEMA.execute(query, variables, RequestContext(system))
    assert result.errors
    return str(getattr(result.errors[0].original_error, "code", result.errors[0].message))


def given(**more: Any) -> dict[str, Any]:
    types = [
        {
            "name": one["name"],
            "fromTypes": one["from_types"],
            "toTypes": one["to_types"],
            "requiredProperties": one.get("required_properties"),
        }
        for one in GTD["connection_types"]
    ]
    return {"nodeTypes": GTD["node_types"], "connectionTypes": types, **more}


@pytest.mark.clause("ONT-3", "ONT-93", "ONT-186")
async def test_an_ontology_is_made_grows_and_is_found() -> None:
    async with System.at_url("memory:") as system:
        made = (await ask(system, CREATE, **{"in": given(clientMutationId="c1")}))["createOntology"]
        assert made["ontology"]["nodeTypes"] == GTD["node_types"] and made["clientMutationId"] == "c1"
        assert made["ontology"]["enforcement"] == "OFF"
        assert await refused(system, CREATE, **{"in": given()}) == "ONTOLOGY_ALREADY_EXISTS"
        grow = 'mutation { addNodeType(typeName: "Document") { ontology { nodeTypes } } addConnectionType(type: {name: "About", fromTypes: ["Document"], toTypes: ["Later"], acyclic: true}) { ontology { connectionTypes { name acyclic } } warnings { code id } } setOntologyEnforcement(enforcement: STRICT) { ontology { enforcement } } }'
        grown = await ask(system, grow)
        assert grown["addNodeType"]["ontology"]["nodeTypes"][-1] == "Document"
        assert grown["addConnectionType"]["warnings"] == [{"code": "W010", "id": "Later"}]
        assert grown["setOntologyEnforcement"]["ontology"]["enforcement"] == "STRICT"
        asked = '{ ontologies { name } ontology { nodeTypes } past: ontology(at: {position: 1}) { nodeTypes } none: ontology(name: "x") { name } node(id: "ontology/default") { id ... on Ontology { name } } }'
        found = await ask(system, asked)
        assert found["ontologies"] == [{"name": "default"}] and found["none"] is None
        assert found["past"]["nodeTypes"] == GTD["node_types"]
        assert found["node"] == {"id": "ontology/default", "name": "default"}
        assert (
            await refused(system, 'mutation { addNode(input: {id: "x", type: "Task"}) { node { id } } }')
            == "INVALID_NODE_TYPE"
        )


@pytest.mark.clause("ONT-1", "ONT-2", "ONT-4", "ONT-5")
async def test_remembering_connecting_and_finding() -> None:
    async with System.at_url("memory:") as system:
        await ask(system, CREATE, **{"in": given()})
        thing = {"type": "Project", "content": "# Kitchen", "format": "markdown", "properties": {"status": "active"}}
        made = (await ask(system, REMEMBER, **{"in": thing}))["createMemoryNode"]
        project = made["node"]["id"]
        content = {
            "format": "markdown",
            "encoding": "UTF8",
            "size": 9,
            "path": f"_content/nodes/{project}.md",
            "body": "# Kitchen",
        }
        assert made["node"]["content"] == content and made["event"]["type"] == "NodeAdded"
        action = (
            await ask(system, REMEMBER, **{"in": {**thing, "type": "Action", "content": "YQ==", "encoding": "BASE64"}})
        )["createMemoryNode"]["node"]["id"]
        ends = {"type": "NextAction", "fromNodeId": project, "toNodeId": action, "content": "why"}
        edge = (await ask(system, CONNECT, **{"in": ends}))["createConnection"]["edge"]
        assert edge["content"] == {"body": "why", "format": "markdown"}
        listed = (
            "{ graphNodes(first: 5) { nodes { id content { format body } outgoing { nodes { content { body } } } } } }"
        )
        shown = (await ask(system, listed))["graphNodes"]["nodes"]
        assert {node["id"]: node["content"]["body"] for node in shown} == {project: "# Kitchen", action: "YQ=="}
        found = 'query F($id: ID!) { searchContent(query: "KITCH") { id content { body } } connectedNodes(nodeId: $id, direction: OUTGOING, connectionType: "NextAction") { id } validateConnection(connectionType: "NextAction", fromNodeType: "Action", toNodeType: "Project") { valid code message } }'
        answer = await ask(system, found, id=project)
        assert answer["searchContent"] == [{"id": project, "content": {"body": "# Kitchen"}}]
        assert answer["connectedNodes"] == [{"id": action}]
        check = answer["validateConnection"]
        assert (check["valid"], check["code"]) == (False, "INVALID_TOPOLOGY")
        backward = {**ends, "fromNodeId": action, "toNodeId": project}
        assert await refused(system, CONNECT, **{"in": backward}) == "INVALID_TOPOLOGY"
        assert await refused(system, REMEMBER, **{"in": {**thing, "properties": []}}) == "INVALID_ARGUMENT"
        assert await refused(system, 'query { searchContent(query: "x", limit: 501) { id } }') == "LIMIT_EXCEEDED"


@pytest.mark.clause("ONT-186")
async def test_an_ontology_goes_out_as_yaml_and_comes_back() -> None:
    async with System.at_url("memory:") as system:
        made = (await ask(system, CREATE, **{"in": given()}))["createOntology"]["ontology"]
        from importlib.resources import files

        assert (
            made["yaml"].rstrip()
            == (files("ugs_conformance") / "data" / "ont_ontology.yaml").read_text("utf-8").rstrip()
        )
        odd = "node_types: [no, 12, 'a: b', \"x\\ny\"]\nconnection_types:\n- {name: on, from_types: [no], to_types: ['12'], acyclic: true}\n"
        again = (await ask(system, CREATE, **{"in": {"name": "odd", "yaml": odd}}))["createOntology"]["ontology"]
        assert again["nodeTypes"] == ["no", "12", "a: b", "x\ny"] and again["connectionTypes"][0]["acyclic"] is True
        back = from_yaml(again["yaml"])
        stored = await Memory(system, ontology="odd").get_ontology()
        assert (tuple(back.node_types), tuple(back.connection_types)) == (stored.node_types, stored.connection_types)
        assert to_yaml(stored) == again["yaml"]


BAD = [
    "a: &x [1]\nb: *x",
    "!!python/object/apply:os.system [ls]",
    "[" * 50,
    "node_types: x",
    "x: 1",
    "- a",
    "{",
    "node_types: [{a: b}]",
    "",
]


@pytest.mark.parametrize("text", BAD)
@pytest.mark.clause("ONT-186")
def test_yaml_that_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        from_yaml(text)


DEFINED = {
    "nodeTypes": ["Project"],
    "properties": [
        {
            "type": "Project",
            "definitions": [
                {"name": "status", "kind": "STRING", "required": True, "enum": ["active"], "default": "active"},
                {"name": "rank", "kind": "INTEGER", "description": "Small comes first"},
            ],
        }
    ],
}


async def test_properties_are_defined_shown_and_kept() -> None:
    shown = "ontology { properties { owner type definitions { name kind required enum default } } jsonSchema }"
    create = f"mutation C($in: CreateOntologyInput!) {{ createOntology(input: $in) {{ {shown} }} }}"
    more = f'mutation {{ addPropertyDefinitions(input: {{type: "Project", definitions: [{{name: "more", kind: BOOLEAN}}]}}) {{ {shown} }} }}'
    async with System.at_url("memory:") as system:
        made = (await ask(system, create, **{"in": DEFINED}))["createOntology"]["ontology"]
        [project] = made["properties"]
        assert (project["owner"], [one["name"] for one in project["definitions"]]) == ("NODE", ["status", "rank"])
        grown = (await ask(system, more))["addPropertyDefinitions"]["ontology"]
        assert grown["jsonSchema"]["$defs"]["Project"]["properties"]["more"] == {"type": "boolean"}
        node = {"type": "Project", "content": "", "format": "text"}
        found = await ask(system, REMEMBER, **{"in": node})
        assert found["createMemoryNode"]["node"]["properties"] == {"status": "active"}
        assert (
            await refused(system, REMEMBER, **{"in": {**node, "properties": {"rank": "x"}}}) == "INVALID_PROPERTY_VALUE"
        )
        again = {"name": "again", "jsonSchema": grown["jsonSchema"]}
        copied = (await ask(system, create, **{"in": again}))["createOntology"]["ontology"]
        assert copied["properties"] == grown["properties"]
        for both in ({**again, "name": "x", "nodeTypes": ["A"]}, {**again, "name": "x", "yaml": "node_types: [A]"}):
            assert await refused(system, create, **{"in": both}) == "INVALID_ARGUMENT"
        bad = {
            "name": "x",
            "nodeTypes": ["A"],
            "properties": [{"type": "A", "definitions": [{"name": "x", "enum": [[1]]}]}],
        }
        assert await refused(system, create, **{"in": bad}) == "INVALID_ARGUMENT"


async def test_plain_nodes_say_something_through_graphql() -> None:
    add = 'mutation { addNode(input: {id: "a", content: {format: "markdown", body: "# Hi"}}) { node { content { body format } } } b: addNode(input: {id: "b"}) { node { content { body } } } }'
    async with System.at_url("memory:") as system:
        made = await ask(system, add)
        assert made == {
            "addNode": {"node": {"content": {"body": "# Hi", "format": "markdown"}}},
            "b": {"node": {"content": None}},
        }
        await ask(
            system,
            'mutation { addEdge(input: {id: "e", from: "a", to: "b"}) { edge { id } } updateEdge(input: {id: "e", content: {format: "text", body: "why"}}) { edge { content { body } } } }',
        )
        listed = "query($has: Boolean) { graphNodes(filter: {hasContent: $has}) { nodes { id } } }"
        for has, ids in ((True, ["a"]), (False, ["b"]), (None, ["a", "b"])):
            assert [node["id"] for node in (await ask(system, listed, has=has))["graphNodes"]["nodes"]] == ids
        taken = await ask(
            system, 'mutation { updateNode(input: {id: "a", content: null}) { node { content { body } } } }'
        )
        assert taken["updateNode"]["node"]["content"] is None
        batch = 'mutation { applyBatch(operations: [{addNode: {id: "c", content: {format: "png", body: "iVBO", encoding: BASE64}}}]) { elements { ... on GraphNode { content { encoding size } } } } }'
        assert (await ask(system, batch))["applyBatch"]["elements"] == [{"content": {"encoding": "BASE64", "size": 3}}]
        bad = 'mutation { addNode(input: {id: "d", content: {format: "png", body: "!", encoding: BASE64}}) { node { id } } }'
        assert await refused(system, bad) == "INVALID_ENCODING"


async def test_a_node_knows_the_ontology_of_its_type() -> None:
    async with System.at_url("memory:") as system:
        await Memory(system).create_ontology(["Project"])
        await Memory(system, ontology="other").create_ontology(["Run", "Project"])
        for id, type in (("a", "Project"), ("b", "Run"), ("c", None)):
            await ask(
                system,
                "mutation($id: ID!, $t: String) { addNode(input: {id: $id, type: $t}) { node { id } } }",
                id=id,
                t=type,
            )
        found = await ask(
            system,
            '{ graphNodes { nodes { ontology { name } } } past: graphNode(id: "a", at: {position: 3}) { ontology { name } } }',
        )
        assert [node["ontology"] for node in found["graphNodes"]["nodes"]] == [
            {"name": "default"},
            {"name": "other"},
            None,
        ]
        assert found["past"]["ontology"] == {"name": "default"}
