"""The access matrix: whatever the gateway can be asked, by everybody, and not one byte of a secret where it must not be.

The cases are found by looking at the gateway (see `access_matrix`). The test fails when a field, tool, resource or route
has no case, or when nobody who may be answered is: then the case would prove nothing.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from graphql import GraphQLSchema, build_schema
from starlette.routing import Route, WebSocketRoute

from tests.gateway.fuzz_stores import IN_FULL, url_of
from tests.security.access_matrix import (
    BRIEF_DEPTH,
    JSON_BODY,
    MAX_DEPTH,
    OWNERS,
    VIEWERS,
    Answer,
    Enumerated,
    Planted,
    Request,
    Writer,
    ask,
    fields_of,
    graphql,
    leaks_in,
    may_see,
)
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import create_token
from ugs_gateway.graphql.graphiql import assets
from ugs_gateway.rest import documentation
from ugs_gateway.settings import Settings, Tenancy
from ugs_gateway.studio import application as studio

TYPED = "/graphql/matrix"
DSL = "! MATCH (p) WHERE p.label = 'plain' RETURN p;\n"
TREE = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}
EXPLORATION = {"statements": [{"op": "+", "cypher": "MATCH (n) RETURN n"}]}
BLOCKS = [{"blockType": "search", "params": {"query": "ali"}}, {"blockType": "limit", "params": {"count": 3}}]
STREAM = (("accept", "text/event-stream"),)

UNANSWERED = {
    "GET /graphql/{ontology}": "a GET without a query is refused; the cases of the schema ask everything by POST",
    "GET /mcp": "messages come by POST only; a GET is refused",
    "mcp tool create_ontology": "there is one ontology of this name for ever, and the others need it",
    **({} if assets() else {"GET /graphiql/assets/{name}": "the page was not built, so there are no files"}),
    **({} if documentation.files() else {"GET /docs/{page:path}": "the site was not built, so there are no pages"}),
    **({} if studio.assets() else {"GET /studio/assets/{name}": "Studio was not built, so there are no files"}),
}
"""Cases that nobody is answered, with the reason."""


def is_answered(request: Request, answer: Answer) -> bool:
    """Whether an answer proves that its case was asked; a plan, which is for admins, may come with an error beside it."""
    return answer.is_good or (request.case.endswith("explained") and b'"explain":{' in answer.body)


class Matrix:
    """One gateway, everybody's keys, what is planted, and what has been found."""

    def __init__(
        self,
        app: Any,
        tokens: Mapping[str, str | None],
        is_shared: bool,
        viewers: Sequence[str] | None = None,
        shared: Planted | None = None,
    ) -> None:
        self.app, self.tokens, self.is_shared = app, tokens, is_shared
        self.is_brief, self.viewers = viewers is not None, viewers or tuple(VIEWERS)
        self.planted = Planted(self.ask_as, shared)
        self.leaks: list[str] = []
        self.covered: set[str] = set()
        self.unanswered: dict[str, bytes] = {}
        self.seen: dict[str, set[str]] = {viewer: set() for viewer in VIEWERS}
        self.asked = 0
        self.probed = b""

    async def ask_as(self, viewer: str, request: Request) -> Answer:
        return await ask(self.app, request, self.tokens[viewer])

    async def check(self, request: Request, viewers: Sequence[str] | None = None) -> dict[str, Answer]:
        """Ask as everybody at once, and look at every byte that comes back."""
        sent = f"{request.path} {json.dumps(request.body)}".lower()
        assert not any(one in sent for some in self.planted.secrets.values() for one in some), request.case
        names = list(viewers or self.viewers)
        answers = dict(zip(names, await asyncio.gather(*(self.ask_as(name, request) for name in names)), strict=True))
        for viewer, answer in answers.items():
            self._look(viewer, request, answer)
        good = [answer for viewer, answer in answers.items() if viewer in OWNERS and is_answered(request, answer)]
        if good:
            self.covered |= request.covers
            self.unanswered.pop(request.case, None)
        elif request.covers and not request.covers <= self.covered:
            self.unanswered[request.case] = answers.get("owner", next(iter(answers.values()))).raw[-300:]
        return answers

    def _look(self, viewer: str, request: Request, answer: Answer) -> None:
        self.asked += 1
        assert answer.status != 500, (viewer, request, answer.raw[:500])
        allowed = may_see(viewer, self.is_shared)
        found = leaks_in(answer.raw, self.planted.secrets, allowed)
        self.leaks += [f"{viewer}: {kind} in {request.case}" for kind in found]
        self.seen[viewer] |= set(leaks_in(answer.raw, self.planted.secrets, set()))

    # ── the arguments that must mean something ───────────────────────────────

    def values(self) -> dict[str, Any]:
        """What arguments are given, by field and name or by name; everything else is made from its type."""
        at, fresh = self.planted.values, uuid4().hex[:8]
        entry = {"deck": [{"dsl": DSL}]}
        named = {"subject": {"name": at["person"]}, "scope": "agent_private", "idempotencyKey": f"k{fresh}"}
        return {
            **{"id": at["node"], "ids": self.global_ids(), "nodeId": at["node"], "entityId": at["entityId"]},
            **{"factId": at["factId"], "noteId": at["noteId"], "subject": named["subject"], "tenantId": "acme"},
            **{"projectId": "p1", "graphEdge.id": at["edge"], "node.id": f"fact/{at['factId']}", "from": at["node"]},
            **{"to": at["other"], "key": "status", "value": "active", "address": f"@({at['node']})", "query": "zq"},
            **{
                "addresses": [f"@({at['node']}:1)", f"@({at['factId']})"],
                "entity.name": at["person"],
                "recall.query": at["person"],
            },
            **{"alias": f"alias {fresh}", "resolvePredicate.alias": "lives in", "activeFacts.scope": "agent_private"},
            **{"keepId": at["entityId"], "mergeId": at["mergeId"], "connectionType": "About", "fromNodeType": "Memo"},
            **{
                f"Graph{kind}{part}.{name}.property": "status"
                for kind in ("Node", "Edge")
                for part in ("Aggregate", "Group")
                for name in ("sum", "avg", "min", "max")
            },
            **{"NodeGroupKey.property": "status", "EdgeGroupKey.property": "status"},
            **{"UpsertMemoInput.id": f"memo_{fresh}", "of": "created"},
            **{f"{name}Aggregate.groupBy.by": ["created"] for name in ("Memo", "AboutSource", "AboutTarget")},
            **{"toNodeType": "Memo", "ontology": "matrix", "cypher.query": "MATCH (n) RETURN n", "last": 500},
            **{
                "program.id": at["program_id"],
                "dsl": DSL,
                "program": TREE,
                "blocks": BLOCKS,
                "programBlocks.program": at["compiled"],
                "exploration": EXPLORATION,
            },
            **{"validateProgram.dsl": DSL, "executeProgram.dsl": DSL, "programRun.dsl": DSL, **entry},
            **{"updateProgram.id": at["program_id"], "deleteProgram.id": at["program_id"], "SaveProgramInput.dsl": DSL},
            **{"AddNodeInput.id": f"new_{fresh}", "UpdateNodeInput.id": at["node"], "UpdateNodeInput.properties": {}},
            **{"deleteNode.input": {"id": at["other"]}, "deleteEdge.input": {"id": at["edge"]}},
            **{"UpdateEdgeInput.id": at["edge"], "AddEdgeInput.from": at["node"], "AddEdgeInput.to": at["other"]},
            **{
                "operations": [{"addNode": {"id": f"batch_{fresh}"}}],
                "version": 1,
                "clearScope.scope": Enumerated("USER"),
            },
            **{"graph": {"nodes": [], "edges": []}, "force": False, "text": f"a note {fresh}", "source": "somewhere"},
            **{
                "UpsertEntityInput.name": at["person"],
                "deletePredicate.id": at["unusedId"],
                "deleteEntity.force": True,
            },
            **{"ConfigurePredicateInput.addAliases": [f"alias {fresh}"], "loadDemo.force": True},
            **{"ConfigurePredicateInput.id": at["predicateId"], "AddFactInput.scope": "agent_private"},
            **{"AddFactInput.predicate": "lives in", "AddFactInput.objectValue": f"value {fresh}"},
            **{"NoteInput.text": f"said {fresh}", "IngestInput.scope": "agent_private", "reason": "because"},
            **{"NoteToIngestInput.text": f"{at['person']} rests", "CreateOntologyInput.name": f"o{fresh}"},
            **{"CreateOntologyInput.nodeTypes": ["Memo"], "CreateOntologyInput.connectionTypes": []},
            **{"CreateOntologyInput.properties": [], "typeName": f"T{fresh}", "ConnectionTypeInput.name": f"C{fresh}"},
            **{"ConnectionTypeInput.fromTypes": ["Memo"], "ConnectionTypeInput.toTypes": ["Memo"]},
            **{
                "TypePropertiesInput.type": "Memo",
                "PropertyDefinitionInput.name": f"p{fresh}",
                "MemoryNodeInput.type": "Memo",
            },
            **{
                "UpdateMemoInput.format": "markdown",
                "deleteConnection.id": at["edge"],
                "setOntologyEnforcement.ontology": "matrix",
                "MemoryNodeInput.ontology": "matrix",
            },
            **{
                "ConnectionInput.ontology": "matrix",
                "ConnectionInput.type": "About",
                "ConnectionInput.fromNodeId": at["node"],
            },
            **{
                "ConnectionInput.toNodeId": at["other"],
                "SendMessageInput.nodeId": at["node"],
                "SendMessageInput.type": "get",
            },
            **{"CreateApiKeyInput.name": f"key {fresh}", "RevokeApiKeyInput.id": at["key"], "afterSeq": 0},
            **{
                "CreateWebhookInput.url": f"https://x.example/{fresh}",
                "CreateWebhookInput.types": [Enumerated("NodeAdded")],
            },
            **{"ManageWebhookInput.id": at["webhook"], "RewindWebhookInput.id": at["webhook"]},
            "deleteWebhook.input": {"id": at["spare_webhook"]},
            **{
                "events.afterSeq": 0,
                "elementChanged.afterSeq": 0,
                "nodesChanged.afterSeq": 0,
                "edgesChanged.afterSeq": 0,
            },
            **{"_entities.representations": self.representations()},
            **{"factsChanged.afterSeq": 0, "at": {"position": at["position"]}},
            **{"proposalId": at["proposalId"], "otherId": at["mergeId"], "unmergeEntity.entityId": at["mergedId"]},
            **{"EditProposalInput.subject": f"Somebody {fresh}"},
            **{"changes.from": {"position": 0}, "undo.input": {"range": {"after": 0}}, "undo.preview": True},
        }

    def global_ids(self) -> list[str]:
        at = self.planted.values
        kinds = {"fact": "factId", "note": "noteId", "entity": "entityId", "predicate": "predicateId"}
        ids = [f"{kind}/{at[key]}" for kind, key in kinds.items()]
        return [*ids, f"program/{at['program_id']}", at["node"], *(f"event/{id}" for id in at["events"])]

    def representations(self) -> list[dict[str, str]]:
        kinds = {None: "GraphNode", "program": "Program", "event": "Event"}
        ids = [(id.partition("/")[0] if "/" in id else None, id) for id in self.global_ids()]
        return [{"__typename": kinds.get(kind) or str(kind).title(), "id": id} for kind, id in ids]

    async def is_whole(self) -> bool:
        """Whether what was planted last is still there."""
        return await self._probe() == self.probed

    async def _probe(self) -> bytes:
        at = self.planted.values
        text = f'''{{ whyFact(factId: "{at["factId"]}") {{ fact {{ validTo }} notes {{ noteId }} }}
          a: node(id: "entity/{at["entityId"]}") {{ id }} b: node(id: "entity/{at["mergeId"]}") {{ id }}
          c: node(id: "predicate/{at["predicateId"]}") {{ id }} d: program(id: {at["program_id"]}) {{ name }}
          h: entity(name: "Goner{self.planted.count}") {{ entityId }} i: factProposals(state: APPROVED) {{ nodes {{ proposalId }} }} j: factProposals(state: REJECTED) {{ nodes {{ proposalId }} }}
          g: node(id: "predicate/{at["unusedId"]}") {{ id }} e: graphEdge(id: "{at["edge"]}") {{ id }} f: graphNode(id: "{at["other"]}") {{ id }} }}'''
        return (await self.ask_as("owner", graphql("probe", text))).body

    async def plant(self) -> None:
        await self.planted.plant()
        self.probed = await self._probe()
        found = await self.planted.do("{ history(last: 60) { eventId seq } }")
        compiled = await self.planted.do("query($b: JSON!) { compileBlocks(blocks: $b) }", b=BLOCKS)
        self.planted.values["compiled"] = compiled["compileBlocks"]
        self.planted.values["events"] = [event["eventId"] for event in found["history"]]
        self.planted.values["position"] = found["history"][-1]["seq"]


# ── the cases ────────────────────────────────────────────────────────────────

EXTRA: Mapping[str, tuple[dict[str, Any], ...]] = {
    "cypher": (
        {"view": Enumerated("FACTS"), "query": "MATCH (n)-[r]->(m) RETURN n, r, m"},
        {"view": Enumerated("ALL"), "query": "MATCH (n) RETURN n, labels(n), keys(n), properties(n)"},
        {"view": Enumerated("FACTS"), "query": "MATCH (n) WHERE n.name STARTS WITH 'zq' RETURN n"},
        {"view": Enumerated("ALL"), "query": "EXPLAIN MATCH (n) RETURN n"},
        {"view": Enumerated("ALL"), "query": "MATCH (n) RETURN n.missing +"},
    ),
    "facts": ({"includeInactive": True}, {"evidencedOnly": True}, {"scope": "agent_private"}),
    "search": ({"mode": Enumerated("SEMANTIC")}, {"mode": Enumerated("HYBRID")}),
    "programs": ({"search": "zq"},),
    "entities": ({"search": "zq"},),
}
"""Further arguments beyond those that are made: texts in languages of their own."""


def query_cases(matrix: Matrix, schema: GraphQLSchema, path: str = "/graphql") -> list[Request]:
    """Each field as it is, in the past, for the owner's project, with each choice it has, and with what it may name."""
    cases = []
    root = schema.query_type
    assert root is not None
    for name, field in root.fields.items():
        values = matrix.values()
        variants: list[dict[str, Any]] = [{}, *EXTRA.get(name, ())]
        if "at" in field.args and not matrix.is_brief:
            variants.append({"at": {"position": matrix.planted.values["position"]}})
        if "tenantId" in field.args and not matrix.is_brief:
            variants.append({"tenantId": "acme", "projectId": "p1"})
        variants += [{one: list(map(Enumerated, EVENT_TYPES))} for one in field.args if one == "types"]
        variants += [{one: matrix.planted.values["factId"]} for one in field.args if one == "elementId"]
        for number, given in enumerate(variants):
            writer = Writer(schema, values, BRIEF_DEPTH if number or matrix.is_brief else MAX_DEPTH)
            text = f"{{ {writer.call(root.name, name, field, given)} }}"
            covers = {f"{path} {one}" for one in writer.covered} if not number else set()
            covers |= {f"{path} Query.{name} with {one}" for one in given if one in SPECIAL}
            cases.append(graphql(f"{path} {name} {number}", text, path=path, covers=covers))
        if not matrix.is_brief:
            text = f"{{ {Writer(schema, values, BRIEF_DEPTH).call(root.name, name, field)} }}"
            covers = {f"{path} Query.{name} explained"}
            case = f"{path} {name} explained"
            cases.append(graphql(case, text, path=path, covers=covers, extensions={"explain": True}))
    return cases


SPECIAL = ("at", "tenantId", "types", "elementId")
"""Arguments by which more can be asked for than without: each is a case of its own wherever it is taken."""


def variants_of(schema: GraphQLSchema, path: str) -> set[str]:
    """The further ways to ask a field that must have a case: in the past, for a project, by type, by element, explained."""
    assert schema.query_type is not None
    fields = schema.query_type.fields.items()
    special = {f"{path} Query.{name} with {one}" for name, field in fields for one in field.args if one in SPECIAL}
    return special | {f"{path} Query.{name} explained" for name, _ in fields}


def mutation_case(matrix: Matrix, schema: GraphQLSchema, name: str, path: str = "/graphql") -> Request:
    root = schema.mutation_type
    assert root is not None
    writer = Writer(schema, matrix.values(), BRIEF_DEPTH)
    text = f"mutation {{ {writer.call(root.name, name, root.fields[name])} }}"
    return graphql(f"{path} mutation {name}", text, path=path, covers={f"{path} {one}" for one in writer.covered})


def subscription_cases(matrix: Matrix, schema: GraphQLSchema, path: str = "/graphql") -> list[Request]:
    root = schema.subscription_type
    assert root is not None
    cases = []
    for name, field in root.fields.items():
        writer = Writer(schema, matrix.values(), BRIEF_DEPTH)
        variants: list[dict[str, Any]] = [{}]
        variants += [{"types": list(map(Enumerated, EVENT_TYPES))} for one in field.args if one == "types"]
        variants += [{"id": matrix.planted.values["factId"]} for one in field.args if one == "id"]
        variants += [{"tenantId": "acme", "projectId": "p1"} for one in field.args if one == "tenantId"]
        for number, given in enumerate(variants):
            chosen = {"afterSeq": 0} if "afterSeq" in field.args else {}
            text = f"subscription {{ {writer.call(root.name, name, field, {**chosen, **given})} }}"
            covers = frozenset(f"{path} {one}" for one in writer.covered)
            body = {"query": text}
            cases.append(Request(f"{path} subscription {name} {number}", "POST", path, body, STREAM, covers))
            if not number and not matrix.is_brief:
                cases.append(Request(f"{path} socket {name}", "GET", path, body, (), covers, is_socket=True))
    return cases


EVENT_TYPES: list[str] = []
STRANGE = ("HEAD", "OPTIONS", "DELETE")
"""Methods that are tried at every address."""


# ── MCP ──────────────────────────────────────────────────────────────────────


def rpc(case: str, method: str, params: Mapping[str, Any], covers: Iterable[str] = ()) -> Request:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}
    headers = (("accept", f"{JSON_BODY}, text/event-stream"), ("mcp-protocol-version", "2025-06-18"))
    return Request(case, "POST", "/mcp", body, headers, frozenset(covers))


def mcp_values(matrix: Matrix) -> dict[str, Any]:
    at, fresh = matrix.planted.values, uuid4().hex[:8]
    return {
        **{"node_id": at["node"], "connection_id": at["edge"], "from_node_id": at["node"], "to_node_id": at["other"]},
        **{"type": "Memo", "create_connection.type": "About", "content": f"text {fresh}", "format": "markdown"},
        **{"direction": "both", "query": "zq", "cypher.query": "MATCH (n) RETURN n", "connection_type": "About"},
        **{"from_node_type": "Memo", "to_node_type": "Memo", "node_types": ["Memo"], "connection_types": []},
        **{"type_name": f"T{fresh}", "from_types": ["Memo"], "to_types": ["Memo"], "address": f"@({at['node']})"},
        **{"subject": at["person"], "predicate": "lives in", "add_fact.value": f"value {fresh}", "action": "list"},
        **{"add_fact.note": f"said {fresh}", "send_message.type": "get", "active_facts.scope": "agent_private"},
        **{"definitions": [{"name": f"p{fresh}", "kind": "string"}], "purpose": "x", "topic": "x"},
        **{"define_property.type_name": "Memo", "name": f"p{fresh}"},
        **{"fact_id": at["factId"], "correct.action": "end", "forget.kind": "fact", "forget.id": at["factId"]},
        **{"remember.text": f"text {fresh}", "merge.action": "suggest", "recall.query": f"what about {at['person']}"},
        **{"predicates.action": "list", "undo.after": 0, "undo.preview": True},
        **{"proposals.action": "list", "propose.facts": [{"subject": "Ann", "predicate": "is", "value": "old"}]},
        **{"update_node.properties": {"note": "plain"}, "update_connection.properties": {"note": "plain"}},
    }


def tool_arguments(tool: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a tool, made from its schema."""
    schema = tool["inputSchema"]
    defaults = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    found = {}
    for name, told in schema.get("properties", {}).items():
        own = f"{tool['name']}.{name}"
        if name in schema.get("required", ()) or own in values:
            found[name] = values.get(own, values.get(name, defaults.get(told.get("type"), "x")))
    return found


TOOL_EXTRAS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "changed": ({"limit": 200},),
    "history": ({"limit": 500},),
    "subjects": ({"limit": 200},),
    "predicates": (
        {"action": "list", "limit": 200},
        {"action": "configure", "name": "made up", "cardinality": "single"},
    ),
    "undo": ({"after": 0, "preview": True}, {"after": 0, "preview": False}),
    "proposals": ({"action": "list", "limit": 200}, {"action": "list", "state": "rejected"}),
    "cypher": (
        {"query": "MATCH (n)-[r]->(m) RETURN n, r, m", "view": "FACTS"},
        {"query": "MATCH (n) RETURN n", "view": "ALL"},
    ),
    "program": ({"action": "get"}, {"action": "run"}, {"action": "execute"}, {"action": "delete"}),
}


# ── everything together ──────────────────────────────────────────────────────


@asynccontextmanager
async def opened(
    url: str, folder: Path, tenancy: Tenancy, viewers: Sequence[str] | None = None, shared: Planted | None = None
) -> AsyncIterator[Matrix]:
    """A gateway with everything switched on, and the secrets planted, perhaps with what is visible of another one."""
    file = folder / "tokens.jsonl"
    tokens = {name: None if who is None else create_token(file, who) for name, who in VIEWERS.items()}
    wide = {"max_tokens": 100_000, "max_document_chars": 1 << 20, "max_depth": 30, "max_aliases": 10_000}
    app = create_app(
        Settings(
            store=url,
            tenants=tenancy,
            token_file=str(file),
            store_keys=True,
            webhooks=True,
            mcp_profile="extended",
            federation=True,
            max_cost=1 << 40,
            request_seconds=60,
            **wide,  # type: ignore[arg-type]
        )
    )
    async with app.router.lifespan_context(app):
        matrix = Matrix(app, tokens, tenancy is Tenancy.SHARED, viewers, shared)
        ontology = {"name": "matrix", "nodeTypes": ["Memo"], "connectionTypes": [ABOUT]}
        memory = {"name": "default", "nodeTypes": ["Memo"], "connectionTypes": [ABOUT]}
        for one in (ontology, memory):
            await matrix.planted.do(CREATE_ONTOLOGY, input=one)
        await matrix.plant()
        yield matrix


ABOUT = {"name": "About", "fromTypes": ["Memo"], "toTypes": ["Memo"]}
CREATE_ONTOLOGY = "mutation($input: CreateOntologyInput!) { createOntology(input: $input) { ontology { name } } }"


async def schemas_of(matrix: Matrix) -> dict[str, GraphQLSchema]:
    """The schema, and one that was made from an ontology, as the gateway tells them."""
    found = {}
    for path, text in (("/graphql", "/schema.graphql"), (TYPED, f"{TYPED}/schema.graphql")):
        answer = await matrix.ask_as("owner", Request("schema", "GET", text))
        found[path] = build_schema(answer.body.decode())
    return found


async def ask_everything(matrix: Matrix) -> set[str]:
    """Every case of every door; answers with all that there is to cover."""
    schemas = await schemas_of(matrix)
    EVENT_TYPES[:] = [name for name in schemas["/graphql"].type_map["EventType"].values]  # type: ignore[attr-defined]
    wanted: set[str] = set()
    for path, schema in schemas.items():
        wanted |= {f"{path} {field}" for field in fields_of(schema)} | variants_of(schema, path)
        for case in (*query_cases(matrix, schema, path), *subscription_cases(matrix, schema, path)):
            await matrix.check(case)
    wanted |= await ask_mcp(matrix)
    wanted |= await ask_routes(matrix)
    for path, schema in schemas.items():
        for name in schema.mutation_type.fields if schema.mutation_type else ():
            await change(matrix, lambda path=path, schema=schema, name=name: mutation_case(matrix, schema, name, path))
    return wanted


async def change(matrix: Matrix, case: Callable[[], Request]) -> None:
    """A request that may change something: one after another, and what is gone is planted again."""
    ours = [name for name in reversed(OWNERS) if name in matrix.viewers]
    for viewer in (*(name for name in reversed(matrix.viewers) if name not in OWNERS), *ours):
        answers = await matrix.check(case(), [viewer])
        r = case()
        if "Proposal" in r.case:
            print("DBG", viewer, r.case, answers[viewer].is_good, answers[viewer].raw[-300:], sorted(r.covers)[:3])
        if answers[viewer].is_good and not await matrix.is_whole():
            await matrix.plant()


async def ask_mcp(matrix: Matrix) -> set[str]:
    listed: dict[str, list[Mapping[str, Any]]] = {}
    for method, key in (
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ):
        answers = await matrix.check(rpc(f"mcp {method}", method, {}, [f"mcp {method}"]))
        listed[key] = json_in(answers["owner"])["result"][key]
    wanted = {f"mcp {name}" for name in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")}
    for resource in (*listed["resources"], *listed["resourceTemplates"]):
        given = resource.get("uri") or resource["uriTemplate"]
        wanted.add(f"mcp {given}")
        at = matrix.planted.values
        uri = given.replace("{id}", at["edge"] if "connection" in given else at["node"])
        await matrix.check(rpc(f"mcp {given}", "resources/read", {"uri": uri}, [f"mcp {given}"]))
    for prompt in listed["prompts"]:
        wanted.add(f"mcp prompt {prompt['name']}")
        given = {one["name"]: "x" for one in prompt.get("arguments") or ()}
        params = {"name": prompt["name"], "arguments": given}
        await matrix.check(rpc(f"mcp prompt {prompt['name']}", "prompts/get", params, [f"mcp prompt {prompt['name']}"]))
    for tool in listed["tools"]:
        wanted.add(f"mcp tool {tool['name']}")
        await ask_tool(matrix, tool)
    return wanted


async def ask_tool(matrix: Matrix, tool: Mapping[str, Any]) -> None:
    name = tool["name"]

    def case(more: Mapping[str, Any] | None = None) -> Request:
        arguments = {**tool_arguments(tool, mcp_values(matrix)), **(more or {})}
        if name == "program" and more:
            arguments["program_id"] = matrix.planted.values["program_id"]
        params = {"name": name, "arguments": arguments}
        return rpc(f"mcp tool {name} {more or ''}", "tools/call", params, () if more else [f"mcp tool {name}"])

    for more in (None, *TOOL_EXTRAS.get(name, ())):
        if tool["annotations"]["readOnlyHint"]:
            await matrix.check(case(more))
        else:
            await change(matrix, lambda more=more: case(more))


def json_in(answer: Answer) -> Any:
    return json.loads(answer.body)


BODIES: Mapping[str, Any] = {
    "POST /graphql": {"query": "{ history(last: 500) { seq type data } }"},
    "POST /graphql/{ontology}": {"query": "{ __typename }"},
    "POST /programs": {"program": TREE, "name": "mine"},
    "POST /programs/validate": {"program": TREE},
    "POST /programs/execute": {"program": TREE},
    "PUT /programs/{id}": {"name": "renamed"},
    "POST /mcp": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
}


async def ask_routes(matrix: Matrix) -> set[str]:
    """Every address with every method that it knows, and with some that it does not."""
    wanted = set()
    for route in matrix.app.routes:
        if isinstance(route, WebSocketRoute):
            continue  # each subscription is asked over it
        assert isinstance(route, Route), route
        for method in sorted({*(route.methods or {"GET", "POST"}), *(() if matrix.is_brief else STRANGE)}):
            name = f"{method} {route.path}"
            is_own = method in (route.methods or {"GET", "POST"}) and method != "HEAD"
            covers = [name] if is_own else []
            wanted |= set(covers)
            await ask_route(matrix, route.path, method, name, covers)
    return wanted


async def ask_route(matrix: Matrix, path: str, method: str, name: str, covers: list[str]) -> None:
    def case() -> Request:
        at = matrix.planted.values
        filled = path.replace("{id}", str(at["program_id"])).replace("{ontology}", "matrix")
        files = studio.assets() if path.startswith("/studio") else assets()
        filled = filled.replace("{name}", next(iter(files), "none")).replace("{page:path}", "")
        if method == "GET" and path == "/graphql":
            filled += "?query={history(last:500){seq,type,data}}"
        headers = (("accept", f"{JSON_BODY}, text/event-stream"),) if path == "/mcp" else ()
        return Request(name, method, filled, BODIES.get(name), headers, frozenset(covers))

    if method in ("GET", "HEAD", "OPTIONS"):
        await matrix.check(case())
    else:
        await change(matrix, case)


async def test_nobody_sees_what_is_not_theirs_by_any_door(tmp_path: Path) -> None:
    async with opened("memory:", tmp_path, Tenancy.SHARED) as matrix:
        wanted = await ask_everything(matrix)
    assert matrix.leaks == []
    missing = wanted - matrix.covered - UNANSWERED.keys()
    assert not missing, (sorted(missing), matrix.unanswered)
    assert UNANSWERED.keys() <= wanted - matrix.covered, "no reason is left for a case that is answered"
    for viewer in VIEWERS:
        assert matrix.seen[viewer] == may_see(viewer, True), f"{viewer} does not see what is theirs"


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "neo4j"] if IN_FULL else ["sqlite"])
async def test_nobody_sees_what_is_not_theirs_on_a_database(tmp_path: Path, store: str) -> None:
    viewers = ("owner", "colleague", "other tenant")
    async with opened(url_of(store, tmp_path), tmp_path, Tenancy.SHARED, viewers) as matrix:
        await ask_everything(matrix)
    assert matrix.leaks == []
    assert matrix.seen["owner"] == may_see("owner", True)


async def test_a_tenant_with_a_graph_of_its_own_is_seen_by_nobody_else(tmp_path: Path) -> None:
    async with opened("memory:", tmp_path, Tenancy.SEPARATE, ("owner", "other tenant", "nobody", "admin")) as matrix:
        await ask_everything(matrix)
    assert matrix.leaks == []
    assert matrix.seen["owner"] == may_see("owner", False)


async def test_a_case_that_proves_nothing_and_a_secret_that_shows_are_noticed(tmp_path: Path) -> None:
    async with opened("memory:", tmp_path, Tenancy.SHARED, ("owner", "colleague")) as matrix:
        await matrix.check(graphql("broken", "{ nothing }", covers=["Query.nothing"]))
        assert "broken" in matrix.unanswered and matrix.covered == set()
        raw = f"{matrix.planted.mark('fact')} {matrix.planted.mark('content')}".encode()
        matrix._look("colleague", Request("told", "GET", "/"), Answer(200, raw))
        hidden = base64.urlsafe_b64encode(f'["{matrix.planted.mark("note")}"]'.encode())
        matrix._look("colleague", Request("cursor", "GET", "/"), Answer(200, hidden))
    assert matrix.leaks == ["colleague: fact in told", "colleague: note in cursor"]
