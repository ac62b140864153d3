"""The client for a running gateway, over GraphQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from ugs.errors import NodeNotFound
from ugs_gateway.cli.clients import (
    KEY_FIELDS,
    PROGRAM_KEYS,
    WEBHOOK_FIELDS,
    ChangeResult,
    Correction,
    GraphClient,
    RecallQuestion,
    Record,
    SearchQuery,
)
from ugs_gateway.cli.clients import documents as ask
from ugs_gateway.cli.clients.http import Client

PAGE_SIZE = 200
MAX_AT_ONCE = 500
"""Hubs and events that a gateway returns in one response."""
MAX_PROGRAMS = 100
Moment = dict[str, Any] | None


class RemoteClient(GraphClient):
    """Answers from a gateway, at present or at a past position."""

    def __init__(self, client: Client, at: Moment = None) -> None:
        self.client = client
        self.name = client.url
        self.at = at

    def at_time(self, moment: int | datetime) -> RemoteClient:
        return RemoteClient(self.client, _at(moment))

    def _ask(self, document: str, **variables: Any) -> Any:
        return self.client.execute(document, **variables)

    def _read(self, document: str, **variables: Any) -> Any:
        return self.client.execute(document, at=self.at, **variables)

    async def element(self, id: str) -> Record | None:
        found = self._read(ask.ELEMENT, id=id)["element"]
        return None if found is None else record_of(found)

    async def settings_nodes(self) -> tuple[Record, Record]:
        found = self._ask(ask.SETTINGS)
        prefs, config = found["prefs"], found["config"]
        return (prefs["properties"] if prefs else {}), (config["properties"] if config else {})

    async def add_node(self, id: str, type: str | None, properties: Record, data: Any) -> ChangeResult:
        made = self._ask(ask.ADD_NODE, input={"id": id, "type": type, "properties": properties, "data": data})
        return _change_result(made["addNode"], "node")

    async def add_edge(
        self, id: str, ends: tuple[str, str], type: str | None, weight: float, properties: Record
    ) -> ChangeResult:
        given = {"id": id, "from": ends[0], "to": ends[1], "type": type, "weight": weight, "properties": properties}
        return _change_result(self._ask(ask.ADD_EDGE, input=given)["addEdge"], "edge")

    async def update(self, id: str, changes: Record) -> ChangeResult:
        given = {"id": id, **{ask.INPUT_NAMES.get(name, name): value for name, value in changes.items()}}
        kind = self._kind_of(id)
        document = ask.UPDATE_NODE if kind == "node" else ask.UPDATE_EDGE
        return _change_result(self._ask(document, input=given)["update"], kind)

    def _kind_of(self, id: str) -> str:
        found = self._ask(ask.KIND, id=id)["element"]
        if found is None:
            raise NodeNotFound(id)
        return "node" if found["__typename"] == "GraphNode" else "edge"

    async def delete(self, id: str) -> ChangeResult:
        done = self._ask(ask.DELETE, id=id)["delete"]
        return ChangeResult({"deleted": done["deletedId"], "edges": done["deletedEdgeIds"]}, done["warnings"])

    async def search(self, query: SearchQuery) -> list[Record]:
        ways = {"mode": query.mode.upper(), "near": query.near}
        within = {"type": query.type, "scope": None if query.scope is None else query.scope.upper()}
        hits, after = list[Record](), None
        while True:
            size = PAGE_SIZE if query.limit is None else min(PAGE_SIZE, query.limit - len(hits))
            found = self._read(ask.SEARCH, query=query.query, first=size, after=after, **ways, **within)["search"]
            hits += [
                {"score": edge["node"]["score"], "node": record_of(edge["node"]["node"])} for edge in found["edges"]
            ]
            if len(hits) == query.limit or not found["pageInfo"]["hasNextPage"]:
                return hits
            after = found["pageInfo"]["endCursor"]

    async def nodes(self, type: str | None = None, scope: str | None = None) -> AsyncIterator[list[Record]]:
        for page in self._pages(ask.NODES, "graphNodes", filter=_filter(type=type, scope=scope)):
            yield page

    async def edges(self, scope: str | None = None) -> AsyncIterator[list[Record]]:
        for page in self._pages(ask.EDGES, "graphEdges", filter=_filter(scope=scope)):
            yield page

    def _pages(self, document: str, field: str, **variables: Any) -> Iterator[list[Record]]:
        after = None
        while True:
            found = self._read(document, first=PAGE_SIZE, after=after, **variables)[field]
            yield [record_of(node) for node in found["nodes"]]
            if not found["pageInfo"]["hasNextPage"]:
                return
            after = found["pageInfo"]["endCursor"]

    def _all(self, document: str, field: str, **variables: Any) -> list[Record]:
        return [record for page in self._pages(document, field, **variables) for record in page]

    async def find_by_property(self, key: str, value: Any) -> list[Record]:
        return self._all(ask.FIND, "findByProperty", key=key, value=value)

    async def neighbors(self, id: str, direction: str, type: str | None) -> list[Record]:
        asked = {"id": id, "direction": direction.upper(), "type": type}
        found = self._parts(ask.NEIGHBORS, "neighbors", lambda node: node["id"], **asked)
        return [record_of(node) for node in found]

    def _parts(self, document: str, field: str, id_of: Callable[[Any], str], **variables: Any) -> list[Any]:
        """A list without a connection type, fetched in parts."""
        found: list[Any] = []
        while True:
            after = id_of(found[-1]) if found else None
            part = self._read(document, first=PAGE_SIZE, after=after, **variables)[field]
            found += part
            if len(part) < PAGE_SIZE:
                return found

    async def traverse(self, id: str, depth: int, direction: str, strategy: str, type: str | None) -> list[Record]:
        types = None if type is None else [type]
        ways = {"direction": direction.upper(), "strategy": strategy.upper(), "types": types}
        steps = self._parts(ask.TRAVERSE, "traverse", lambda step: step["node"]["id"], id=id, depth=depth, **ways)
        return [
            {"depth": step["depth"], "node": record_of(step["node"]), "via": step["via"] and record_of(step["via"])}
            for step in steps
        ]

    async def path(self, start: str, goal: str) -> Record | None:
        way = self._read(ask.PATH, start=start, goal=goal)["path"]
        if way is None:
            return None
        nodes, edges = ([record_of(element) for element in way[kind]] for kind in ("nodes", "edges"))
        return {"nodes": nodes, "edges": edges, "weight": without_fraction(way["totalWeight"])}

    async def stats(self) -> Record:
        return dict(self._read(ask.STATS)["stats"])

    async def hubs(self, limit: int) -> list[Record]:
        if limit > MAX_AT_ONCE:
            return self._more_hubs(limit)
        return [
            {
                **record_of(hub["node"]),
                "degree": hub["degree"],
                "incoming": hub["inDegree"],
                "outgoing": hub["outDegree"],
            }
            for hub in self._read(ask.HUBS, limit=limit)["hubs"]
        ]

    def _more_hubs(self, limit: int) -> list[Record]:
        """More hubs than one response holds, page by page."""
        found = list[Record]()
        for page in self._pages(ask.MORE_HUBS, "graphNodes"):
            found += page
            if len(found) >= limit:
                break
        return found[:limit]

    async def roots(self) -> list[Record]:
        return self._all(ask.ROOTS, "roots")

    async def property_keys(self) -> list[str]:
        return list(self._read(ask.KEYS)["propertyKeys"])

    async def scopes(self) -> list[Record]:
        found = self._read(ask.SCOPES)["scopes"]
        return [{"scope": one["name"], "nodes": one["nodeCount"], "edges": one["edgeCount"]} for one in found]

    async def history(self, last: int, element: str | None) -> list[Record]:
        if last <= MAX_AT_ONCE:
            return self._ask(ask.HISTORY, last=last, element=element)["history"]  # type: ignore[no-any-return]
        return self._last_events(last, element)

    def _last_events(self, last: int, element: str | None) -> list[Record]:
        """More events than one response holds, page by page; for one element its whole history is read."""
        newest = self._ask(ask.HISTORY, last=1, element=None)["history"]
        after = None if element is not None or not newest else max(0, int(newest[0]["seq"]) - last)
        found, cursor = list[Record](), None
        while True:
            page = self._ask(ask.EVENTS, element=element, afterSeq=after, first=PAGE_SIZE, after=cursor)["events"]
            found += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return found[-last:]
            after, cursor = None, page["pageInfo"]["endCursor"]

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

    async def changes(self, start: int | datetime, end: int | datetime | None, element: str | None) -> list[Record]:
        found, cursor = list[Record](), None
        until = None if end is None else _at(end)
        wanted = {} if element is None else {"ids": [element]}
        while True:
            given = {"from": _at(start), "to": until, "filter": wanted, "first": PAGE_SIZE, "after": cursor}
            page = self._ask(ask.CHANGES, **given)["changes"]
            found += [_change(one) for one in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            until, cursor = {"position": page["toPosition"]}, page["pageInfo"]["endCursor"]

    async def undo(self, selection: str, positions: Sequence[int], preview: bool, key: str | None) -> ChangeResult:
        choices = {
            "events": {"events": list(positions)},
            "transaction": {"transaction": positions[0]},
            "after": {"range": {"after": positions[0]}},
        }
        done = self._ask(ask.UNDO, input=choices[selection], preview=preview, key=key)["undo"]
        changes = [_change(one) for one in done["changes"]]
        told = {"done": done["done"], "changes": changes, "conflicts": done["conflicts"]}
        return ChangeResult({**told, "events": len(done["events"])}, done["warnings"])

    async def resolve(self, address: str) -> Any:
        return self._read(ask.RESOLVE, address=address)["resolve"]["value"]

    async def clear_scope(self, scope: str, force: bool) -> ChangeResult:
        gone = self._ask(ask.CLEAR_SCOPE, scope=scope.upper(), force=force)["clearScope"]
        return ChangeResult({"scope": scope, "nodes": gone["deletedNodeIds"], "edges": gone["deletedEdgeIds"]})

    async def snapshot(self) -> Record:
        written = self._ask(ask.SNAPSHOT)["snapshot"]["snapshot"]
        return {"timestamp": written["timestamp"], "events": written["eventCount"], "stats": written["stats"]}

    async def import_graph(self, graph: Record, on_conflict: str, key: str | None) -> ChangeResult:
        return _count_result(self._ask(ask.IMPORT, graph=graph, onConflict=on_conflict, key=key)["importGraph"])

    async def ingest(
        self, notes: Sequence[Record], scope: str, supported: bool, key: str | None, skip_known: bool = False
    ) -> ChangeResult:
        from ugs.facts.note_json import input_of, note_of

        told = {"scope": scope, "requireSupport": supported, "skipKnown": skip_known, "idempotencyKey": key}
        done = self._ask(ask.INGEST, input={**told, "notes": [input_of(note_of(note)) for note in notes]})["ingest"]
        counts = {"notes": len(done["notes"]), "facts": len(done["facts"]), "created": done["created"]}
        return ChangeResult(counts, done["warnings"])

    async def propose(self, notes: Sequence[Record], scope: str, supported: bool, key: str | None) -> ChangeResult:
        from ugs.facts.note_json import input_of, note_of

        told = {"scope": scope, "requireSupport": supported, "trust": "PROPOSE", "idempotencyKey": key}
        done = self._ask(ask.PROPOSE, input={**told, "notes": [input_of(note_of(note)) for note in notes]})["ingest"]
        return ChangeResult({"notes": len(done["notes"]), "proposals": len(done["proposals"])})

    async def load_demo(self, force: bool) -> ChangeResult:
        return _count_result(self._ask(ask.LOAD_DEMO, force=force)["loadDemo"])

    async def verify(self) -> Record:
        found = self._ask(ask.VERIFY)["verify"]
        replayed = found["digest"] if found["ok"] else None
        told = {"ok": found["ok"], "events": found["eventsChecked"], "stored": found["digest"]}
        return {**told, "replayed": replayed, "problems": [problem["message"] for problem in found["problems"]]}

    async def cypher(self, query: str, parameters: Record) -> Record:
        found = self._read(ask.CYPHER, query=query, params=parameters)["cypher"]
        told = {"columns": found["columns"], "rows": found["rows"], "plan": found["explanation"]}
        return {**told, "truncated": found["truncated"], "notifications": list(map(_notice, found["notifications"]))}

    async def facts(self, subject: str, moment: str) -> list[Record]:
        found = self._read(ask.FACTS, name=subject, moment=moment)["factTimeline"]
        return [{**_fact(fact), "holds": fact["active"]} for fact in found]

    async def correct(self, correction: Correction) -> ChangeResult:
        given: Record = {
            "factId": correction.fact,
            "action": correction.action.upper(),
            "reason": correction.reason,
            "objectValue": correction.value,
            "objectEntity": None if correction.object is None else {"name": correction.object},
            "at": correction.when,
            "reopen": correction.reopen,
        }
        done = self._ask(ask.CORRECT, input=given)["correctFact"]
        fact, before = (None if done[name] is None else _fact(done[name]) for name in ("fact", "before"))
        told = {"fact": fact, "before": before, "reopened": list(map(_fact, done["reopened"]))}
        return ChangeResult(told, done["warnings"])

    async def entity(self, name: str) -> Record | None:
        found: Record | None = self._ask(ask.ENTITY, name=name)["entity"]
        return found

    async def duplicates(self) -> list[Record]:
        return list(self._ask(ask.DUPLICATES)["duplicateEntities"])

    async def merge(self, keep: str, other: str, preview: bool) -> Record:
        if preview:
            plan = self._ask(ask.MERGE_PREVIEW, keep=keep, other=other)["mergePreview"]
            counts = {name: len(plan[name]) for name in ("moved", "folded", "conflicts")}
            return {**plan["keep"], **counts, "aliases": plan["aliases"]}
        return dict(self._ask(ask.MERGE, keep=keep, other=other)["mergeEntities"]["entity"])

    async def unmerge(self, id: str) -> Record:
        return dict(self._ask(ask.UNMERGE, id=id)["unmergeEntity"]["entity"])

    async def keep_apart(self, id: str, other: str) -> None:
        self._ask(ask.KEEP_APART, id=id, other=other)

    async def proposals(self, state: str) -> list[Record]:
        found, cursor = list[Record](), None
        while True:
            given = {"state": state.upper(), "first": PAGE_SIZE, "after": cursor}
            page = self._ask(ask.PROPOSALS, **given)["factProposals"]
            found += [_proposal(one) for one in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            cursor = page["pageInfo"]["endCursor"]

    async def decide(self, id: str, action: str, reason: str | None, changes: Record) -> Record:
        names = {"value": "objectValue", "object": "objectEntity"}
        given: Record = {"id": id}
        if action == "reject":
            given["reason"] = reason
        elif action == "edit":
            given = {"input": {"proposalId": id, **{names.get(name, name): value for name, value in changes.items()}}}
        return _proposal(self._ask(ask.DECISIONS[action], **given)["done"]["proposal"])

    async def recall(self, question: RecallQuestion) -> Record:
        given = {
            "query": question.query,
            "budgetTokens": question.budget,
            "first": question.limit,
            "asOf": question.as_of,
            "scopes": question.scopes,
            "kinds": None if question.kinds is None else [kind.upper() for kind in question.kinds],
        }
        found = self._read(ask.RECALL, **{key: value for key, value in given.items() if value is not None})["recall"]
        return _recall(found)

    async def send(self, id: str, type: str, payload: Record) -> Record:
        answer = self._ask(ask.SEND, input={"nodeId": id, "type": type, "payload": payload})
        return dict(answer["sendMessage"]["payload"])

    async def validate_program(self, program: Any) -> Record:
        return dict(self.client.rest("POST", "/programs/validate", {"program": program}))

    async def save_program(self, program: Any, name: str | None) -> Record:
        made = self.client.rest("POST", "/programs", {"program": program, "name": name})
        return next(kept for kept in await self.programs(None, MAX_PROGRAMS) if kept["id"] == made["id"])

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
            page = self._ask(ask.API_KEYS, first=PAGE_SIZE, after=after)["apiKeys"]
            found += [_key(key) for key in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]

    async def revoke_key(self, id: str) -> Record:
        return _key(self._ask(ask.REVOKE_KEY, id=id)["revokeApiKey"]["apiKey"])

    async def add_webhook(self, wanted: Record) -> Record:
        given = {"afterSeq" if name == "after" else name: value for name, value in wanted.items() if name != "filter"}
        made = self._ask(ask.ADD_WEBHOOK, input={**given, **wanted["filter"]})["createWebhook"]
        return {"secret": made["secret"], **_webhook(made["webhook"])}

    async def webhooks(self) -> list[Record]:
        found, after = list[Record](), None
        while True:
            page = self._ask(ask.WEBHOOKS, first=PAGE_SIZE, after=after)["webhooks"]
            found += [_webhook(webhook) for webhook in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]

    async def change_webhook(self, action: str, id: str, after: int | None) -> Record:
        if action == "redeliver":
            return dict(self._ask(ask.REDELIVER_WEBHOOK, id=id)["redeliverWebhook"])
        if action == "rewind":
            return _webhook(self._ask(ask.REWIND_WEBHOOK, id=id, after=after)["rewindWebhook"]["webhook"])
        return _webhook(self._ask(ask.manage_webhook(action), id=id)[f"{action}Webhook"]["webhook"])


def _webhook(webhook: Record) -> Record:
    """A webhook as a JSON record."""
    return {name: webhook[ask.INPUT_NAMES.get(name, name)] for name in WEBHOOK_FIELDS}


def _key(key: Record) -> Record:
    """An API key as a JSON record."""
    roles = [role.lower() for role in key["roles"]]
    return {name: roles if name == "roles" else key[ask.INPUT_NAMES.get(name, name)] for name in KEY_FIELDS}


def without_fraction(number: float) -> float:
    """A weight as in the seed: 1, not 1.0."""
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else number


def record_of(element: Record) -> Record:
    """An element as a JSON record."""
    return {**element, "weight": without_fraction(element["weight"])} if "weight" in element else element


def _change_result(payload: Record, kind: str) -> ChangeResult:
    return ChangeResult(record_of(payload[kind]), payload["warnings"])


def _count_result(payload: Record) -> ChangeResult:
    return ChangeResult({kind: payload[kind] for kind in ("nodes", "edges", "events")}, payload["warnings"])


def _proposal(one: Record) -> Record:
    return {**one, "state": one["state"].lower(), "note_id": one["note_id"].removeprefix("note/")}


def _change(one: Record) -> Record:
    return {**one, "element": one["element"].lower(), "kind": one["kind"].lower()}


def _at(moment: int | datetime) -> Record:
    return {"position": moment} if isinstance(moment, int) else {"instant": moment.isoformat()}


def _filter(type: str | None = None, scope: str | None = None) -> Record:
    given = {"type": type, "scope": None if scope is None else scope.upper()}
    return {name: value for name, value in given.items() if value is not None}


def _recall(found: Record) -> Record:
    """The result of a recall in the shape that a local store gives it."""
    return {
        "items": [_recall_item(item) for item in found["items"]],
        "entities": [entity["canonical"] for entity in found["entities"]],
        "as_of": found["asOf"],
        "tokens": found["tokens"],
        "budget_tokens": found["budgetTokens"],
        "omitted": found["omitted"],
        "truncated": found["truncated"],
    }


def _recall_item(item: Record) -> Record:
    evidence = [{"note_id": quote["noteId"], "text": quote["text"]} for quote in item["evidence"]]
    optional = {
        "valid_from": item["validFrom"],
        "valid_to": item["validTo"],
        "scope": item["scope"],
        "evidence": evidence,
    }
    always = {"kind": item["kind"].lower(), **{key: item[key] for key in ("id", "text", "score", "why")}}
    return always | {key: value for key, value in optional.items() if value}


def _notice(one: Record) -> Record:
    """A remark about a query, with its place in the message, as the local client gives it."""
    return {"code": one["code"], "message": f"{one['message']} (line {one['line']}, column {one['column']})"}


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
