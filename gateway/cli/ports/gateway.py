"""The graph behind a running gateway, asked in GraphQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from gateway.cli.ports import KEY_FIELDS, PROGRAM_KEYS, Done, Port, Record, Wanted
from gateway.cli.ports import documents as ask
from gateway.cli.ports.http import Client
from gateway.masking import without_secrets
from ugs.errors import NodeNotFound

PAGE = 200
MOST_PROGRAMS = 100
Moment = dict[str, Any] | None


class GatewayPort(Port):
    """Answers from a gateway, now or as of a place in time."""

    def __init__(self, client: Client, at: Moment = None) -> None:
        self.client = client
        self.name = without_secrets(client.url)
        self.at = at

    def _ask(self, document: str, **variables: Any) -> Any:
        return self.client.ask(document, **variables)

    def _read(self, document: str, **variables: Any) -> Any:
        return self.client.ask(document, at=self.at, **variables)

    async def element(self, id: str) -> Record | None:
        found = self._read(ask.ELEMENT, id=id)["element"]
        return None if found is None else record_of(found)

    async def settings_nodes(self) -> tuple[Record, Record]:
        found = self._ask(ask.SETTINGS)
        prefs, config = found["prefs"], found["config"]
        return (prefs["properties"] if prefs else {}), (config["properties"] if config else {})

    async def add_node(self, id: str, type: str | None, properties: Record, data: Any) -> Done:
        made = self._ask(ask.ADD_NODE, input={"id": id, "type": type, "properties": properties, "data": data})
        return _done(made["addNode"], "node")

    async def add_edge(
        self, id: str, ends: tuple[str, str], type: str | None, weight: float, properties: Record
    ) -> Done:
        given = {"id": id, "from": ends[0], "to": ends[1], "type": type, "weight": weight, "properties": properties}
        return _done(self._ask(ask.ADD_EDGE, input=given)["addEdge"], "edge")

    async def update(self, id: str, changes: Record) -> Done:
        given = {"id": id, **{ask.INPUT_NAMES.get(name, name): value for name, value in changes.items()}}
        kind = self._kind_of(id)
        document = ask.UPDATE_NODE if kind == "node" else ask.UPDATE_EDGE
        return _done(self._ask(document, input=given)["update"], kind)

    def _kind_of(self, id: str) -> str:
        found = self._ask(ask.KIND, id=id)["element"]
        if found is None:
            raise NodeNotFound(id)
        return "node" if found["__typename"] == "GraphNode" else "edge"

    async def delete(self, id: str) -> Done:
        done = self._ask(ask.DELETE, id=id)["delete"]
        return Done({"deleted": done["deletedId"], "edges": done["deletedEdgeIds"]}, done["warnings"])

    async def search(self, wanted: Wanted) -> list[Record]:
        ways = {"mode": wanted.mode.upper(), "near": wanted.near, "first": wanted.limit}
        within = {"type": wanted.type, "scope": None if wanted.scope is None else wanted.scope.upper()}
        edges = self._read(ask.SEARCH, query=wanted.query, **ways, **within)["search"]["edges"]
        return [{"score": edge["node"]["score"], "node": record_of(edge["node"]["node"])} for edge in edges]

    async def nodes(self, type: str | None = None, scope: str | None = None) -> AsyncIterator[list[Record]]:
        for page in self._pages(ask.NODES, "graphNodes", filter=_filter(type=type, scope=scope)):
            yield page

    async def edges(self, scope: str | None = None) -> AsyncIterator[list[Record]]:
        for page in self._pages(ask.EDGES, "graphEdges", filter=_filter(scope=scope)):
            yield page

    def _pages(self, document: str, field: str, **variables: Any) -> Iterator[list[Record]]:
        after = None
        while True:
            found = self._read(document, first=PAGE, after=after, **variables)[field]
            yield [record_of(node) for node in found["nodes"]]
            if not found["pageInfo"]["hasNextPage"]:
                return
            after = found["pageInfo"]["endCursor"]

    def _all(self, document: str, field: str, **variables: Any) -> list[Record]:
        return [record for page in self._pages(document, field, **variables) for record in page]

    async def find_by_property(self, key: str, value: Any) -> list[Record]:
        return self._all(ask.FIND, "findByProperty", key=key, value=value)

    async def neighbors(self, id: str, direction: str, type: str | None) -> list[Record]:
        found = self._read(ask.NEIGHBORS, id=id, direction=direction.upper(), type=type)
        return [record_of(node) for node in found["neighbors"]]

    async def traverse(self, id: str, depth: int, direction: str, strategy: str, type: str | None) -> list[Record]:
        types = None if type is None else [type]
        ways = {"direction": direction.upper(), "strategy": strategy.upper(), "types": types}
        steps = self._read(ask.TRAVERSE, id=id, depth=depth, **ways)["traverse"]
        return [
            {"depth": step["depth"], "node": record_of(step["node"]), "via": step["via"] and record_of(step["via"])}
            for step in steps
        ]

    async def path(self, start: str, goal: str) -> Record | None:
        way = self._read(ask.PATH, start=start, goal=goal)["path"]
        if way is None:
            return None
        nodes, edges = ([record_of(element) for element in way[kind]] for kind in ("nodes", "edges"))
        return {"nodes": nodes, "edges": edges, "weight": whole(way["totalWeight"])}

    async def stats(self) -> Record:
        return dict(self._read(ask.STATS)["stats"])

    async def hubs(self, limit: int) -> list[Record]:
        return [
            {
                **record_of(hub["node"]),
                "degree": hub["degree"],
                "incoming": hub["inDegree"],
                "outgoing": hub["outDegree"],
            }
            for hub in self._read(ask.HUBS, limit=limit)["hubs"]
        ]

    async def roots(self) -> list[Record]:
        return self._all(ask.ROOTS, "roots")

    async def property_keys(self) -> list[str]:
        return list(self._read(ask.KEYS)["propertyKeys"])

    async def scopes(self) -> list[Record]:
        found = self._read(ask.SCOPES)["scopes"]
        return [{"scope": one["name"], "nodes": one["nodeCount"], "edges": one["edgeCount"]} for one in found]

    async def history(self, last: int, element: str | None) -> list[Record]:
        return self._ask(ask.HISTORY, last=last, element=element)["history"]  # type: ignore[no-any-return]

    async def follow(self, after: int | None) -> AsyncGenerator[Record, None]:
        stream = self.client.stream(ask.FOLLOW, after=after)
        try:
            # Waiting in a thread leaves the interrupt key to us.
            while (found := await asyncio.to_thread(next, stream, None)) is not None:
                yield found["events"]
        finally:
            self.client.close()

    async def log(self, after: int) -> AsyncGenerator[list[bytes], None]:
        for line in self.client.lines(f"/log?after={after}"):
            yield [line]

    async def digest(self) -> str:
        return str(self.client.rest("GET", "/log/digest")["digest"])

    async def versions(self, id: str) -> list[Record]:
        return [{**state, "event": state["event"]["type"]} for state in self._ask(ask.VERSIONS, id=id)["versions"]]

    async def resolve(self, address: str) -> Any:
        return self._read(ask.RESOLVE, address=address)["resolve"]["value"]

    async def clear_scope(self, scope: str, force: bool) -> Done:
        gone = self._ask(ask.CLEAR_SCOPE, scope=scope.upper(), force=force)["clearScope"]
        return Done({"scope": scope, "nodes": gone["deletedNodeIds"], "edges": gone["deletedEdgeIds"]})

    async def snapshot(self) -> Record:
        written = self._ask(ask.SNAPSHOT)["snapshot"]["snapshot"]
        return {"timestamp": written["timestamp"], "events": written["eventCount"], "stats": written["stats"]}

    async def import_graph(self, graph: Record, on_conflict: str, key: str | None) -> Done:
        return _counted(self._ask(ask.IMPORT, graph=graph, onConflict=on_conflict, key=key)["importGraph"])

    async def ingest(self, notes: Sequence[Record], scope: str, supported: bool, key: str | None) -> Done:
        from ugs.facts.lines import input_of, note_of

        told = {"scope": scope, "requireSupport": supported, "idempotencyKey": key}
        done = self._ask(ask.INGEST, input={**told, "notes": [input_of(note_of(note)) for note in notes]})["ingest"]
        counts = {"notes": len(done["notes"]), "facts": len(done["facts"]), "created": done["created"]}
        return Done(counts, done["warnings"])

    async def load_demo(self, force: bool) -> Done:
        return _counted(self._ask(ask.LOAD_DEMO, force=force)["loadDemo"])

    async def verify(self) -> Record:
        found = self._ask(ask.VERIFY)["verify"]
        replayed = found["digest"] if found["ok"] else None
        return {"ok": found["ok"], "events": found["eventsChecked"], "stored": found["digest"], "replayed": replayed}

    async def cypher(self, query: str, parameters: Record) -> Record:
        found = self._read(ask.CYPHER, query=query, params=parameters)["cypher"]
        return {"columns": found["columns"], "rows": found["rows"], "plan": found["explanation"]}

    async def facts(self, subject: str) -> list[Record]:
        return [_fact(fact) for fact in self._read(ask.FACTS, name=subject)["factTimeline"]]

    async def send(self, id: str, type: str, payload: Record) -> Record:
        answer = self._ask(ask.SEND, input={"nodeId": id, "type": type, "payload": payload})
        return dict(answer["sendMessage"]["payload"])

    async def validate_program(self, program: Any) -> Record:
        return dict(self.client.rest("POST", "/programs/validate", {"program": program}))

    async def save_program(self, program: Any, name: str | None) -> Record:
        made = self.client.rest("POST", "/programs", {"program": program, "name": name})
        return next(kept for kept in await self.programs(None, MOST_PROGRAMS) if kept["id"] == made["id"])

    async def run_program(self, program: Any, parameters: Record) -> Record:
        named = {"program_id": program} if isinstance(program, int) else {"program": program}
        at = {} if self.at is None else {"at": self.at}
        return dict(self.client.rest("POST", "/programs/execute", {**named, **at, "params": parameters}))

    async def programs(self, search: str | None, limit: int) -> list[Record]:
        query = urlencode({"limit": limit, **({"search": search} if search else {})})
        found = self.client.rest("GET", f"/programs?{query}")
        return [{key: kept[key] for key in PROGRAM_KEYS} for kept in found]

    async def add_key(self, wanted: Record) -> Record:
        roles = [role.upper() for role in wanted["roles"]]
        given = {ask.INPUT_NAMES.get(name, name): value for name, value in wanted.items()}
        made = self._ask(ask.ADD_KEY, input={**given, "roles": roles})["createApiKey"]
        return {"token": made["token"], **_key(made["apiKey"])}

    async def keys(self) -> list[Record]:
        found, after = list[Record](), None
        while True:
            page = self._ask(ask.API_KEYS, first=PAGE, after=after)["apiKeys"]
            found += [_key(key) for key in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]

    async def revoke_key(self, id: str) -> Record:
        return _key(self._ask(ask.REVOKE_KEY, id=id)["revokeApiKey"]["apiKey"])


def _key(told: Record) -> Record:
    """An API key as commands know it."""
    roles = [role.lower() for role in told["roles"]]
    return {name: roles if name == "roles" else told[ask.INPUT_NAMES.get(name, name)] for name in KEY_FIELDS}


def whole(number: float) -> float:
    """Weights look as they do in the seed: 1, not 1.0."""
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else number


def record_of(element: Record) -> Record:
    """An element as commands know it."""
    return {**element, "weight": whole(element["weight"])} if "weight" in element else element


def _done(payload: Record, kind: str) -> Done:
    return Done(record_of(payload[kind]), payload["warnings"])


def _counted(payload: Record) -> Done:
    return Done({kind: payload[kind] for kind in ("nodes", "edges", "events")}, payload["warnings"])


def _filter(type: str | None = None, scope: str | None = None) -> Record:
    given = {"type": type, "scope": None if scope is None else scope.upper()}
    return {name: value for name, value in given.items() if value is not None}


def _fact(fact: Record) -> Record:
    about = fact["objectEntity"]
    return {
        "id": fact["factId"],
        "subject": fact["subject"]["canonical"],
        "predicate": fact["predicate"],
        "object": fact["objectValue"] if about is None else about["canonical"],
        "scope": fact["scope"],
        "valid_from": fact["validFrom"],
        "valid_to": fact["validTo"],
    }
