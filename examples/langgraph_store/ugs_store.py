"""A long-term store for LangGraph agents: `BaseStore` on a graph, through the Python client.

Each item is a node of the type `langgraph_item` whose id is made of its namespace and key, so that it can be seen in
Studio, asked with openCypher and followed through time. Needs `langgraph-checkpoint` (the part of LangGraph that has
`BaseStore`), `ugs-client`, and a gateway.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ugs_client import AsyncClient, Client, GatewayError

TYPE = "langgraph_item"
FIELDS = "id properties data createdAt modifiedAt"
COMPARISONS = {
    "$eq": lambda one, other: one == other,
    "$ne": lambda one, other: one != other,
    "$gt": lambda one, other: one is not None and one > other,
    "$gte": lambda one, other: one is not None and one >= other,
    "$lt": lambda one, other: one is not None and one < other,
    "$lte": lambda one, other: one is not None and one <= other,
}


class UgsStore(BaseStore):
    """Items as nodes. Search with a query goes by the words of the items' texts; times to live are not supported."""

    supports_ttl = False

    def __init__(self, url: str = "http://127.0.0.1:8000", token: str | None = None) -> None:
        self.graph, self.sync_graph = AsyncClient(url, token), Client(url, token)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """As `abatch`, for callers without asyncio: each operation by the client without it."""
        return [_run_sync(self.sync_graph, op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations: reads together, then changes in their order, as LangGraph's own stores do."""
        listed = list(ops)
        changes = {(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        reads = [(place, op) for place, op in enumerate(listed) if not isinstance(op, PutOp)]
        answers: list[Result] = [None] * len(listed)
        for (place, _), answer in zip(reads, await asyncio.gather(*(self._read(op) for _, op in reads)), strict=True):
            answers[place] = answer
        for op in changes.values():
            await self._put(op)
        return answers

    async def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            node = await self.graph.graph_node(node_id(op.namespace, op.key), fields=FIELDS)
            return None if node is None else item_of(node)
        if isinstance(op, SearchOp):
            return chosen(op, [hit async for hit in self._candidates(op)])
        assert isinstance(op, ListNamespacesOp)
        found = [node async for node in self.graph.iterate_graph_nodes(filter={"type": TYPE}, fields="properties")]
        return namespaces(op, found)

    async def _candidates(self, op: SearchOp) -> Any:
        if op.query is None:
            async for node in self.graph.iterate_graph_nodes(filter={"type": TYPE}, fields=FIELDS):
                yield node, None
        else:
            async for hit in self.graph.iterate_search(op.query, type=TYPE, fields=f"score node {{ {FIELDS} }}"):
                yield hit["node"], hit["score"]

    async def _put(self, op: PutOp) -> None:
        id = node_id(op.namespace, op.key)
        if op.value is None:
            try:
                await self.graph.delete_node({"id": id})
            except GatewayError as refused:
                if refused.code != "E002":  # what is not there is gone already
                    raise
        else:
            await self.graph.upsert_node(node_input(op))


def _run_sync(graph: Client, op: Op) -> Result:
    if isinstance(op, PutOp):
        id = node_id(op.namespace, op.key)
        if op.value is not None:
            graph.upsert_node(node_input(op))
        elif graph.graph_node(id, fields="id") is not None:
            graph.delete_node({"id": id})
        return None
    if isinstance(op, GetOp):
        node = graph.graph_node(node_id(op.namespace, op.key), fields=FIELDS)
        return None if node is None else item_of(node)
    if isinstance(op, SearchOp) and op.query is not None:
        hits = graph.iterate_search(op.query, type=TYPE, fields=f"score node {{ {FIELDS} }}")
        return chosen(op, [(hit["node"], hit["score"]) for hit in hits])
    nodes = list(graph.iterate_graph_nodes(filter={"type": TYPE}, fields=FIELDS))
    if isinstance(op, SearchOp):
        return chosen(op, [(node, None) for node in nodes])
    assert isinstance(op, ListNamespacesOp)
    return namespaces(op, nodes)


def node_id(namespace: tuple[str, ...], key: str) -> str:
    """One id for a namespace and a key, whatever characters they have."""
    parts = (quote(part, safe="").replace("-", "%2D").replace("_", "%5F") for part in (*namespace, key))
    return "langgraph_" + "_".join(parts).replace("%", "-")


def node_input(op: PutOp) -> Any:
    """The item as a node: its value as data, its texts as properties, so that they can be searched."""
    value = dict(op.value or {})
    searched = {} if op.index is False else {"text": json.dumps(value, ensure_ascii=False)}
    placed = {"namespace": list(op.namespace), "key": op.key}
    return {"id": node_id(op.namespace, op.key), "type": TYPE, "properties": {**placed, **searched}, "data": value}


def item_of(node: Any) -> Item:
    """The item that a node keeps."""
    return Item(**_shared(node))


def _shared(node: Any) -> dict[str, Any]:
    return {
        "value": node["data"],
        "key": node["properties"]["key"],
        "namespace": tuple(node["properties"]["namespace"]),
        "created_at": datetime.fromisoformat(node["createdAt"]),
        "updated_at": datetime.fromisoformat(node["modifiedAt"]),
    }


def chosen(op: SearchOp, found: list[tuple[Any, float | None]]) -> list[SearchItem]:
    """The page of a search among its candidates."""
    items = [SearchItem(**_shared(node), score=score) for node, score in found]
    fitting = [
        item for item in items if _is_below(item.namespace, op.namespace_prefix) and _fits(item.value, op.filter)
    ]
    return fitting[op.offset : op.offset + op.limit]


def _is_below(namespace: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    return namespace[: len(prefix)] == tuple(prefix)


def _fits(value: dict[str, Any], wanted: dict[str, Any] | None) -> bool:
    for key, condition in (wanted or {}).items():
        tests = (
            condition if isinstance(condition, dict) and condition.keys() <= COMPARISONS.keys() else {"$eq": condition}
        )
        if not all(COMPARISONS[name](value.get(key), other) for name, other in tests.items()):
            return False
    return True


def namespaces(op: ListNamespacesOp, nodes: list[Any]) -> list[tuple[str, ...]]:
    """The namespaces in use that meet the conditions."""
    found = {tuple(node["properties"]["namespace"]) for node in nodes}
    kept = {one for one in found if all(_matches(one, condition) for condition in op.match_conditions or ())}
    cut = sorted({one[: op.max_depth] if op.max_depth is not None else one for one in kept})
    return cut[op.offset : op.offset + op.limit]


def _matches(namespace: tuple[str, ...], condition: Any) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", there) for there, wanted in zip(part, path, strict=True))
