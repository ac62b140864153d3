"""Everything that the gateway answers, found by looking at the gateway, and a graph in which secrets are planted.

Cases come from the schema, from the list of MCP tools and resources, and from the table of routes; arguments are made
from their types, with one small table for those that must mean something (`Planted.values`). A new field, tool or route
is a case as soon as it is there.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_enum_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

from ugs_gateway.auth.api_key_file import StoredToken

MAX_DEPTH, BRIEF_DEPTH = 3, 2
QUIET_SECONDS = 0.15
"""A stream that says nothing for so long has said what there was."""
JSON_BODY = "application/json"


# ── who asks ─────────────────────────────────────────────────────────────────

VIEWERS: Mapping[str, StoredToken | None] = {
    "owner": StoredToken("", "owner", ("writer",), "acme", "p1", "a1"),
    "colleague": StoredToken("", "colleague", ("writer",), "acme", "p1", "a2"),
    "reading colleague": StoredToken("", "reads", ("reader",), "acme", "p1", "a3"),
    "other project": StoredToken("", "other_project", ("writer",), "acme", "p2", "a1"),
    "other tenant": StoredToken("", "owner", ("writer",), "globex", "p1", "a1"),
    "without a role": StoredToken("", "no_role", (), "acme", "p1", "a1"),
    "nobody": None,
    "admin": StoredToken("", "operator", ("admin",)),
}
"""Everybody who asks, the owner of the secrets first; the other tenant has a user of the same name. Only the admin belongs to the tenant that runs the store."""

OWNERS = ("owner", "admin")
"""Who must be answered by each case, one of them at least, so that no case is empty."""

PRIVATE = ("fact", "note", "source", "reason", "olderfact", "deletedfact", "deletednote", "ingested", "ids")
OF_PROJECT = ("entity", "alias", "predicate", "sharedfact", "sharednote")
OF_USER = ("program", "literal", "oldprogram", "deletedprogram")
OF_GRAPH = ("content", "property")
OF_OPERATOR = ("keyname",)
OF_NOBODY = ("token",)
KINDS = (*PRIVATE, *OF_PROJECT, *OF_USER, *OF_GRAPH, *OF_OPERATOR, *OF_NOBODY)


def may_see(viewer: str, is_shared: bool) -> set[str]:
    """The kinds of secrets that somebody may see; with one graph for all tenants the graph itself is everybody's."""
    if viewer == "admin":
        # The operator belongs to another tenant: with a graph for each, even an admin has but his own.
        return set(KINDS) - set(OF_NOBODY) if is_shared else set(OF_OPERATOR)
    if viewer in ("nobody", "without a role"):
        return set()
    everybody = set(OF_GRAPH)
    own = {"owner": {*PRIVATE, *OF_PROJECT, *OF_USER}, "colleague": {*OF_PROJECT}, "reading colleague": {*OF_PROJECT}}
    if viewer == "other tenant" and not is_shared:
        return set()
    return everybody | own.get(viewer, set())


# ── asking, without a server ─────────────────────────────────────────────────


class Request(NamedTuple):
    """One request, and what it is a case of."""

    case: str
    method: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    covers: frozenset[str] = frozenset()
    """The fields, tools or routes that an answer without errors proves to be asked."""
    is_socket: bool = False


class Answer(NamedTuple):
    """What came back: its body, and with it every other byte that was sent."""

    status: int
    raw: bytes
    body: bytes = b""

    @property
    def is_good(self) -> bool:
        """Whether the request was done: no refusal, neither in the status nor in the answer."""
        if self.status >= 400:
            return False
        try:
            told = json.loads(self.body)
        except ValueError:
            return b'"errors":[{' not in self.raw and b'"type":"error"' not in self.raw
        if not isinstance(told, dict):
            return True
        result = told.get("result")
        return not (told.get("errors") or told.get("error") or (isinstance(result, dict) and result.get("isError")))


App = Callable[..., Any]


async def ask(app: App, request: Request, token: str | None) -> Answer:
    """Send a request to the application itself and read what it sends, streams until they are quiet."""
    headers = [(b"host", b"localhost"), *((k.encode(), v.encode()) for k, v in request.headers)]
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    if request.is_socket:
        return await _ask_socket(app, request, headers, token)
    body = b"" if request.body is None else json.dumps(request.body).encode()
    if request.body is not None:
        headers += [(b"content-type", JSON_BODY.encode()), (b"content-length", str(len(body)).encode())]
    path, _, query = request.path.partition("?")
    scope = _scope("http", path, query, headers) | {"method": request.method, "http_version": "1.1"}
    asked = [{"type": "http.request", "body": body, "more_body": False}]
    sent = await _run(app, scope, asked, {"type": "http.disconnect"})
    status = next((message["status"] for message in sent if message["type"] == "http.response.start"), 500)
    return Answer(status, _bytes_of(sent), b"".join(message.get("body", b"") for message in sent))


async def _ask_socket(app: App, request: Request, headers: list[tuple[bytes, bytes]], token: str | None) -> Answer:
    payload = {} if token is None else {"authorization": f"Bearer {token}"}
    asked = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": json.dumps({"type": "connection_init", "payload": payload})},
        {"type": "websocket.receive", "text": json.dumps({"type": "subscribe", "id": "1", "payload": request.body})},
    ]
    scope = _scope("websocket", request.path, "", headers) | {"subprotocols": ["graphql-transport-ws"]}
    sent = await _run(app, scope, asked, {"type": "websocket.disconnect", "code": 1000})
    raw = _bytes_of(sent)
    is_refused = any(message["type"] == "websocket.close" for message in sent) or b'"type":"error"' in raw
    return Answer(401 if is_refused and b'"type":"next"' not in raw else 200, raw)


def _scope(kind: str, path: str, query: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        "type": kind,
        "asgi": {"version": "3.0"},
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 80),
        "state": {},
    }


async def _run(
    app: App, scope: dict[str, Any], asked: list[dict[str, Any]], bye: dict[str, Any]
) -> list[dict[str, Any]]:
    """Let the application serve a scope until it ends, or until nothing has come for a while."""
    sent: list[dict[str, Any]] = []
    news, leaving = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop(0)
        await leaving.wait()
        return bye

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        news.set()

    serving = asyncio.ensure_future(app(scope, receive, send))
    is_stream = scope["type"] == "websocket" or any(b"event-stream" in value for _, value in scope["headers"])
    patience = 1.0 if is_stream and scope.get("method") == "GET" else 30.0
    while not serving.done():
        waiting = asyncio.ensure_future(news.wait())
        quiet = QUIET_SECONDS if is_stream and sent else patience
        await asyncio.wait([serving, waiting], timeout=quiet, return_when="FIRST_COMPLETED")
        waiting.cancel()
        if not news.is_set():
            leaving.set()
            await asyncio.wait([serving], timeout=5)
            break
        news.clear()
    if not serving.done():
        serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    return sent


def _bytes_of(sent: Iterable[Mapping[str, Any]]) -> bytes:
    """Everything that went out: heads, bodies, and what sockets said."""
    parts = []
    for message in sent:
        parts += [b"%b: %b" % (name, value) for name, value in message.get("headers", ())]
        parts += [message.get("body") or b"", (message.get("text") or "").encode(), message.get("bytes") or b""]
        parts.append(str(message.get("reason") or "").encode())
    return b"\n".join(part for part in parts if part)


BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")


def leaks_in(raw: bytes, secrets: Mapping[str, Sequence[str]], allowed: set[str]) -> list[str]:
    """The kinds of secrets that an answer holds although it must not, plainly or inside cursors."""
    seen = [raw.lower()]
    for found in BASE64.findall(raw):
        try:
            padded = found.rstrip(b"=") + b"=" * (-len(found.rstrip(b"=")) % 4)
            seen.append(base64.b64decode(padded, altchars=b"-_").lower())
        except (binascii.Error, ValueError):
            continue
    text = b"\n".join(seen)
    return [
        kind
        for kind, some in secrets.items()
        if kind not in allowed and any(one.lower().encode() in text for one in some)
    ]


# ── what is planted ──────────────────────────────────────────────────────────


class Planted:
    """A graph with secrets of the owner in it; planting again makes new records with the same marks."""

    def __init__(self, ask_as: Callable[[str, Request], Awaitable[Answer]], shared: Planted | None = None) -> None:
        """`shared`: another graph, whose marks of what a project and everybody may see are used here too."""
        self.ask_as = ask_as
        self.count = 0
        self.webhooks: list[str] = []
        self.secrets: dict[str, list[str]] = {kind: [f"zq{kind}{uuid4().hex[:12]}"] for kind in KINDS}
        if shared is not None:
            self.secrets |= {kind: list(shared.secrets[kind]) for kind in (*OF_PROJECT, *OF_GRAPH)}
        self.secrets["ids"] = []
        self.values: dict[str, Any] = {}
        """What arguments of a name mean: ids of planted records, and names that are no secret."""

    def mark(self, kind: str) -> str:
        return f"{self.secrets[kind][0]}n{self.count}"

    async def do(self, document: str, viewer: str = "owner", **variables: Any) -> Any:
        answer = await self.ask_as(viewer, graphql("planting", document, variables))
        found = json.loads(answer.body)
        assert "errors" not in found, (document, found["errors"])
        return found["data"]

    async def plant(self) -> None:
        """Make everything anew."""
        self.count += 1
        person, twin, node, other = (f"{name}{self.count}" for name in ("Person", "Twin", "node_x", "node_y"))
        await self._plant_graph(node, other)
        ids = await self._plant_facts(person, twin, node)
        programs = await self._plant_programs()
        made = (await self.do(CREATE_KEY, "admin", input={"name": self.mark("keyname"), "roles": ["READER"]}))[
            "createApiKey"
        ]
        self.secrets["token"] += [made["token"], made["token"].split("_", 2)[2]]
        while len(self.webhooks) < 2:  # a tenant may have a hundred, so they stay
            given = {"url": f"https://x.example/{self.mark('keyname')}"}
            hook = (await self.do(CREATE_WEBHOOK, "admin", input=given))["createWebhook"]
            self.secrets["token"].append(hook["secret"])
            self.webhooks.append(hook["webhook"]["id"])
        self.values = self._values(person, node, other) | ids | programs
        self.values |= {"key": made["apiKey"]["id"], "webhook": self.webhooks[0]}
        self.values["spare_webhook"] = self.webhooks[1]

    async def _plant_graph(self, node: str, other: str) -> None:
        content = {"format": "markdown", "body": self.mark("content")}
        properties = {"title": self.mark("property"), "status": "active"}
        await self.do(ADD_NODE, input={"id": node, "type": "Memo", "properties": properties, "content": content})
        await self.do(ADD_NODE, input={"id": other, "type": "Memo", "properties": {"title": "plain"}})
        await self.do(ADD_EDGE, input={"id": f"edge_{node}", "from": node, "to": other, "type": "About"})

    async def _plant_facts(self, person: str, twin: str, node: str) -> dict[str, Any]:
        """Facts and notes in every state: held, ended, replaced, deleted, and read out of a note."""
        await self.do(UPSERT, input={"name": person, "aliases": [self.mark("alias")], "nodeId": node})
        await self.do(UPSERT, input={"name": self.mark("entity")})
        one = await self._fact(person, "knows privately", self.mark("fact"))
        ended = await self._fact(person, "knew privately", self.mark("fact") + "x")
        await self.do(INVALIDATE, id=ended["factId"], reason=self.mark("reason"))
        gone = await self._fact(person, "knew once", self.mark("deletedfact"))
        await self.do("mutation($id: ID!) { deleteFact(factId: $id) }", id=gone["factId"])
        kept = await self.do(ADD_NOTE, text=self.mark("deletednote"), scope="agent_private")
        note = kept["addNote"]["note"]["noteId"]
        await self.do("mutation($id: ID!) { deleteNote(noteId: $id) }", id=note)
        self.secrets["ids"] += [gone["factId"], note]
        single = {"alias": "lives in", "status": "ACTIVE", "cardinality": "SINGLE"}
        predicate = (await self.do(REGISTER, input=single))["registerPredicate"]["predicate"]["predicateId"]
        plain = await self.do(REGISTER, input={"alias": f"unused {self.count}"})
        unused = plain["registerPredicate"]["predicate"]["predicateId"]
        await self._fact(person, "lives in", self.mark("olderfact"))
        await self._fact(person, "lives in", self.mark("fact") + "y")
        await self._fact(twin, "knows privately", self.mark("fact"))
        relation = {"subject": person, "predicate": "met", "object": {"entity": twin}}
        said = f"{person} met {twin} {self.mark('ingested')}"
        told = {"text": said, "structured": {"relations": [relation]}}
        await self.do(INGEST, input={"scope": "agent_private", "notes": [told]})
        shared = await self._fact(
            person, self.mark("predicate"), self.mark("sharedfact"), "project_shared", "sharednote"
        )
        proposed = {"text": f"{person} {self.mark('ingested')} owns {twin}", "structured": {"relations": []}}
        proposed["structured"] = {"relations": [{**relation, "predicate": "owns"}]}
        await self.do(INGEST, input={"scope": "agent_private", "trust": "PROPOSE", "notes": [proposed]})
        theirs = {"text": f"{person} {self.mark('sharednote')} owns {twin}", "structured": proposed["structured"]}
        given = {"scope": "project_shared", "trust": "PROPOSE", "notes": [theirs]}
        told = (await self.do(INGEST, "colleague", input=given))["ingest"]
        merged = [
            (await self.do(UPSERT, input={"name": f"{name}{self.count}"}))["upsertEntity"]["entity"]["entityId"]
            for name in ("Keeper", "Goner")
        ]
        await self.do(MERGE, keep=merged[0], merge=merged[1])
        found = await self.do(IDS, a=person, b=twin)
        return {
            "factId": one["factId"],
            "noteId": one["evidence"][0]["note"]["noteId"],
            "sharedFactId": shared["factId"],
            "entityId": found["a"]["entityId"],
            "mergeId": found["b"]["entityId"],
            "predicateId": predicate,
            "unusedId": unused,
            "proposalId": told["proposals"][0]["proposalId"],
            "mergedId": merged[1],
        }

    async def _fact(
        self, subject: str, predicate: str, value: str, scope: str = "agent_private", note: str = "note"
    ) -> dict[str, Any]:
        notes = [{"text": f"{subject} {self.mark(note)} {uuid4().hex}", "source": self.mark("source")}]
        if scope != "agent_private":
            notes = [{"text": self.mark(note)}]
        given = {"subject": {"name": subject}, "predicate": predicate, "objectValue": value, "notes": notes}
        found: dict[str, Any] = (await self.do(ADD_FACT, input={**given, "scope": scope}))["addFact"]["fact"]
        return found

    async def _plant_programs(self) -> dict[str, Any]:
        async def saved(name: str) -> int:
            dsl = f"-- Exploration: {name}\n! MATCH (p) WHERE p.label = '{self.mark('literal')}' RETURN p;\n"
            made = await self.do(SAVE, input={"dsl": dsl, "name": name})
            return int(made["saveProgram"]["program"]["programId"])

        id, gone = await saved(self.mark("oldprogram")), await saved(self.mark("deletedprogram"))
        await self.do(RENAME, id=id, input={"name": self.mark("program")})
        await self.do("mutation($id: Int!) { deleteProgram(id: $id) }", id=gone)
        return {"program_id": id}

    def _values(self, person: str, node: str, other: str) -> dict[str, Any]:
        return {"person": person, "node": node, "other": other, "edge": f"edge_{node}", "fresh": uuid4().hex[:8]}


ADD_NODE = "mutation($input: AddNodeInput!) { addNode(input: $input) { node { id } } }"
ADD_EDGE = "mutation($input: AddEdgeInput!) { addEdge(input: $input) { edge { id } } }"
UPSERT = "mutation($input: UpsertEntityInput!) { upsertEntity(input: $input) { entity { entityId } } }"
ADD_FACT = "mutation($input: AddFactInput!) { addFact(input: $input) { fact { factId evidence { note { noteId } } } } }"
ADD_NOTE = "mutation($text: String!, $scope: String) { addNote(text: $text, scope: $scope) { note { noteId } } }"
INVALIDATE = "mutation($id: ID!, $reason: String) { invalidateFact(factId: $id, reason: $reason) { created } }"
REGISTER = (
    "mutation($input: RegisterPredicateInput!) { registerPredicate(input: $input) { predicate { predicateId } } }"
)
INGEST = "mutation($input: IngestInput!) { ingest(input: $input) { created proposals { proposalId } } }"
MERGE = "mutation($keep: ID!, $merge: ID!) { mergeEntities(keepId: $keep, mergeId: $merge) { mergedId } }"
SAVE = "mutation($input: SaveProgramInput!) { saveProgram(input: $input) { program { programId } } }"
RENAME = "mutation($id: Int!, $input: SaveProgramInput!) { updateProgram(id: $id, input: $input) { program { name } } }"
CREATE_WEBHOOK = "mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id } } }"
CREATE_KEY = "mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token apiKey { id } } }"
IDS = "query($a: String!, $b: String!) { a: entity(name: $a) { entityId } b: entity(name: $b) { entityId } }"


def graphql(
    case: str, text: str, variables: Any = None, path: str = "/graphql", covers: Iterable[str] = (), **more: Any
) -> Request:
    """A GraphQL document as a request."""
    return Request(case, "POST", path, {"query": text, "variables": variables or {}, **more}, (), frozenset(covers))


# ── cases from a schema ──────────────────────────────────────────────────────


class Writer:
    """Writes documents for the fields of a schema: all arguments that must be given, and everything below."""

    def __init__(self, schema: GraphQLSchema, values: Mapping[str, Any], depth: int = MAX_DEPTH) -> None:
        self.schema, self.values, self.depth = schema, values, depth
        self.covered: set[str] = set()

    def argument(self, owner: str, name: str, type: Any) -> Any:
        """A value for an argument: by its field and name, by its name, or by its type."""
        for key in (f"{owner}.{name}", name):
            if key in self.values:
                return self.values[key]
        bare = type.of_type if isinstance(type, GraphQLNonNull) else type
        if isinstance(bare, GraphQLList):
            return [self.argument(owner, name, bare.of_type)]
        named: Any = get_named_type(bare)
        if isinstance(named, GraphQLInputObjectType):
            return {
                field: self.argument(named.name, field, one.type)
                for field, one in named.fields.items()
                if is_required_input_field(one) or f"{named.name}.{field}" in self.values
            }
        if is_enum_type(named):
            return Enumerated(next(iter(named.values)))
        return {"Int": 1, "Float": 1.0, "Boolean": True, "String": "x", "ID": "x"}.get(named.name, {})

    def call(self, parent: str, name: str, field: GraphQLField, given: Mapping[str, Any] | None = None) -> str:
        """A field with its arguments and everything that can be chosen below it."""
        self.covered = set()
        arguments = {
            one: self.argument(name, one, argument.type)
            for one, argument in field.args.items()
            if is_required_argument(argument) or f"{name}.{one}" in self.values
        } | dict(given or {})
        return self._field(parent, name, field, arguments, (), 0)

    def _field(
        self,
        parent: str,
        name: str,
        field: GraphQLField,
        arguments: Mapping[str, Any],
        path: tuple[str, ...],
        depth: int,
    ) -> str:
        self.covered.add(f"{parent}.{name}")
        told = ", ".join(f"{key}: {literal(value)}" for key, value in arguments.items())
        below = self.below(get_named_type(field.type), path, depth)
        return f"{name}{f'({told})' if told else ''}{below}"

    def below(self, type: Any, path: tuple[str, ...], depth: int) -> str:
        """The selection below a field; types do not repeat on the way down."""
        if is_leaf_type(type):
            return ""
        if isinstance(type, GraphQLInterfaceType | GraphQLUnionType):
            parts = [
                f"... on {one.name} {{ {' '.join(self._chosen(one, path, depth, f'{one.name}_'))} }}"
                for one in self.schema.get_possible_types(type)
            ]
            return f" {{ __typename {' '.join(parts)} }}"
        return f" {{ {' '.join(self._chosen(type, path, depth))} }}"

    def _chosen(self, type: GraphQLObjectType, path: tuple[str, ...], depth: int, alias: str = "") -> Iterator[str]:
        yield "__typename"
        for name, field in type.fields.items():
            named: Any = get_named_type(field.type)
            is_leaf = is_leaf_type(named)
            if not is_leaf and depth >= self.depth:
                continue
            arguments = {
                one: self.argument(f"{type.name}.{name}", one, argument.type)
                for one, argument in field.args.items()
                if is_required_argument(argument) or f"{type.name}.{name}.{one}" in self.values
            }
            # Below a type that stands above already, only what it says itself.
            deeper = depth + 1 if named.name not in path and named.name != type.name else self.depth
            text = self._field(type.name, name, field, arguments, (*path, type.name), deeper)
            yield f"{alias}{name}: {text}" if alias else text


class Enumerated(str):
    """A value of an enumeration, which is written without quotes."""


def literal(value: Any) -> str:
    """A value as GraphQL writes it."""
    if isinstance(value, Enumerated):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value)


def fields_of(schema: GraphQLSchema) -> set[str]:
    """Every field of every type that can be reached from the roots."""
    found: set[str] = set()
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    waiting: list[Any] = [root for root in roots if root is not None]
    seen = set()
    while waiting:
        type = waiting.pop()
        if type.name in seen or is_leaf_type(type):
            continue
        seen.add(type.name)
        if isinstance(type, GraphQLInterfaceType | GraphQLUnionType):
            waiting += schema.get_possible_types(type)
            continue
        for name, field in type.fields.items():
            found.add(f"{type.name}.{name}")
            waiting.append(get_named_type(field.type))
    return found
