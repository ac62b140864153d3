"""A method for each root field, for asyncio and without it.

Made by `python -m ugs_client.codegen` from the schema of the gateway: not edited by hand.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from typing import TYPE_CHECKING, Any

from ugs_client.operation import OMITTED, Operation

from . import operations as op

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from . import types as t


class AsyncMethods:
    """The root fields; a client says how they are sent."""

    async def _call(self, operation: Operation, arguments: Mapping[str, Any], fields: str | None) -> Any:
        raise NotImplementedError

    def _iterate(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> AsyncGenerator[Any, None]:
        raise NotImplementedError

    def _follow(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> AsyncGenerator[Any, None]:
        raise NotImplementedError

    async def graph_node(
        self, id: str, *, version: int | None = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.GraphNode | None:
        """The node with this id, now, at a version, or at a place in time; null without one"""
        found: t.GraphNode | None = await self._call(op.GRAPH_NODE, {"id": id, "version": version, "at": at}, fields)
        return found

    async def graph_edge(
        self, id: str, *, version: int | None = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.GraphEdge | None:
        """The edge with this id, now, at a version, or at a place in time; null without one"""
        found: t.GraphEdge | None = await self._call(op.GRAPH_EDGE, {"id": id, "version": version, "at": at}, fields)
        return found

    async def element(self, id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.GraphElement | None:
        """The node or edge with this id; null without one"""
        found: t.GraphElement | None = await self._call(op.ELEMENT, {"id": id, "at": at}, fields)
        return found

    async def node(self, id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Node | None:
        """Anything by its global id, now or at a place in time; null without one"""
        found: t.Node | None = await self._call(op.NODE, {"id": id, "at": at}, fields)
        return found

    async def nodes(
        self, ids: list[str], *, at: t.At | None = OMITTED, fields: str | None = None
    ) -> list[t.Node | None]:
        """Anything by its global ids, now or at a place in time, in their order, null where there is none"""
        found: list[t.Node | None] = await self._call(op.NODES, {"ids": ids, "at": at}, fields)
        return found

    async def graph_nodes(
        self,
        *,
        filter: t.NodeFilter | None = OMITTED,
        order_by: list[t.NodeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes that meet a filter, a page at a time, by id unless told"""
        found: t.GraphNodeConnection = await self._call(
            op.GRAPH_NODES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_graph_nodes(
        self,
        *,
        filter: t.NodeFilter | None = OMITTED,
        order_by: list[t.NodeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.GraphNode, None]:
        """Nodes that meet a filter, a page at a time, by id unless told"""
        return self._iterate(
            op.GRAPH_NODES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )

    async def graph_edges(
        self,
        *,
        filter: t.EdgeFilter | None = OMITTED,
        order_by: list[t.EdgeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphEdgeConnection:
        """Edges that meet a filter, a page at a time, by id unless told"""
        found: t.GraphEdgeConnection = await self._call(
            op.GRAPH_EDGES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_graph_edges(
        self,
        *,
        filter: t.EdgeFilter | None = OMITTED,
        order_by: list[t.EdgeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.GraphEdge, None]:
        """Edges that meet a filter, a page at a time, by id unless told"""
        return self._iterate(
            op.GRAPH_EDGES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )

    async def find_by_property(
        self,
        key: str,
        *,
        value: Any = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes whose property has exactly this value, or null; numbers by value, 1 equals 1.0"""
        found: t.GraphNodeConnection = await self._call(
            op.FIND_BY_PROPERTY, {"key": key, "value": value, "first": first, "after": after, "at": at}, fields
        )
        return found

    def iterate_find_by_property(
        self,
        key: str,
        *,
        value: Any = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.GraphNode, None]:
        """Nodes whose property has exactly this value, or null; numbers by value, 1 equals 1.0"""
        return self._iterate(
            op.FIND_BY_PROPERTY, {"key": key, "value": value, "first": first, "after": after, "at": at}, fields
        )

    async def roots(
        self,
        *,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes at which no edge arrives"""
        found: t.GraphNodeConnection = await self._call(op.ROOTS, {"first": first, "after": after, "at": at}, fields)
        return found

    def iterate_roots(
        self,
        *,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.GraphNode, None]:
        """Nodes at which no edge arrives"""
        return self._iterate(op.ROOTS, {"first": first, "after": after, "at": at}, fields)

    async def resolve(self, address: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Resolution:
        """What an address such as @(alice) or @(alice:3) leads to"""
        found: t.Resolution = await self._call(op.RESOLVE, {"address": address, "at": at}, fields)
        return found

    async def resolve_all(
        self, addresses: list[str], *, at: t.At | None = OMITTED, fields: str | None = None
    ) -> list[t.Resolution]:
        """What several addresses lead to, in their order"""
        found: list[t.Resolution] = await self._call(op.RESOLVE_ALL, {"addresses": addresses, "at": at}, fields)
        return found

    async def versions(
        self, id: str, *, last: int | None = OMITTED, fields: str | None = None
    ) -> list[t.ElementVersion]:
        """Every state an element has had, oldest first; also of deleted ones"""
        found: list[t.ElementVersion] = await self._call(op.VERSIONS, {"id": id, "last": last}, fields)
        return found

    async def neighbors(
        self,
        id: str,
        *,
        direction: t.Direction = OMITTED,
        edge_type: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Adjacent nodes, each once, in the sequence of the edges that lead to them; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = await self._call(
            op.NEIGHBORS,
            {"id": id, "direction": direction, "edgeType": edge_type, "at": at, "first": first, "after": after},
            fields,
        )
        return found

    async def traverse(
        self,
        id: str,
        *,
        depth: int = OMITTED,
        direction: t.Direction = OMITTED,
        strategy: t.Strategy = OMITTED,
        edge_types: list[str] | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.TraversalStep]:
        """Nodes within a number of steps, in the order they are visited, the start first; more than 200 with
        `first` and `after` (the id of the last one)
        """
        found: list[t.TraversalStep] = await self._call(
            op.TRAVERSE,
            {
                "id": id,
                "depth": depth,
                "direction": direction,
                "strategy": strategy,
                "edgeTypes": edge_types,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    async def path(self, from_: str, to: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Path | None:
        """The cheapest way from one node to another; null when there is none"""
        found: t.Path | None = await self._call(op.PATH, {"from": from_, "to": to, "at": at}, fields)
        return found

    async def hubs(self, *, limit: int = OMITTED, at: t.At | None = OMITTED, fields: str | None = None) -> list[t.Hub]:
        """Nodes with the most edges, ties by id"""
        found: list[t.Hub] = await self._call(op.HUBS, {"limit": limit, "at": at}, fields)
        return found

    async def search(
        self,
        query: str,
        *,
        mode: t.SearchMode = OMITTED,
        scope: t.Scope | None = OMITTED,
        type: str | None = OMITTED,
        near: str | None = OMITTED,
        min_similarity: float | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.SearchHitConnection:
        """Nodes that answer a query, best first"""
        found: t.SearchHitConnection = await self._call(
            op.SEARCH,
            {
                "query": query,
                "mode": mode,
                "scope": scope,
                "type": type,
                "near": near,
                "minSimilarity": min_similarity,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_search(
        self,
        query: str,
        *,
        mode: t.SearchMode = OMITTED,
        scope: t.Scope | None = OMITTED,
        type: str | None = OMITTED,
        near: str | None = OMITTED,
        min_similarity: float | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.SearchHit, None]:
        """Nodes that answer a query, best first"""
        return self._iterate(
            op.SEARCH,
            {
                "query": query,
                "mode": mode,
                "scope": scope,
                "type": type,
                "near": near,
                "minSimilarity": min_similarity,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    async def stats(self, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Stats:
        """How large the graph is"""
        found: t.Stats = await self._call(op.STATS, {"at": at}, fields)
        return found

    async def backend(self, *, fields: str | None = None) -> t.BackendInfo:
        """What keeps the data"""
        found: t.BackendInfo = await self._call(op.BACKEND, {}, fields)
        return found

    async def property_keys(self, *, at: t.At | None = OMITTED) -> list[str]:
        """Every property name that a node has, sorted"""
        found: list[str] = await self._call(op.PROPERTY_KEYS, {"at": at}, None)
        return found

    async def scopes(self, *, at: t.At | None = OMITTED, fields: str | None = None) -> list[t.ScopeInfo]:
        """The scopes in use"""
        found: list[t.ScopeInfo] = await self._call(op.SCOPES, {"at": at}, fields)
        return found

    async def history(
        self,
        *,
        last: int = OMITTED,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Event]:
        """The last events, oldest of them first"""
        found: list[t.Event] = await self._call(
            op.HISTORY, {"last": last, "types": types, "elementId": element_id}, fields
        )
        return found

    async def events(
        self,
        *,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        after_seq: int | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.EventConnection:
        """The log, oldest first, a page at a time"""
        found: t.EventConnection = await self._call(
            op.EVENTS,
            {"types": types, "elementId": element_id, "afterSeq": after_seq, "first": first, "after": after},
            fields,
        )
        return found

    def iterate_events(
        self,
        *,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        after_seq: int | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.Event, None]:
        """The log, oldest first, a page at a time"""
        return self._iterate(
            op.EVENTS,
            {"types": types, "elementId": element_id, "afterSeq": after_seq, "first": first, "after": after},
            fields,
        )

    async def verify(self, *, fields: str | None = None) -> t.IntegrityReport:
        """Replays the log beside the store and compares; takes a while on a large log"""
        found: t.IntegrityReport = await self._call(op.VERIFY, {}, fields)
        return found

    async def export_graph(self, *, scope: t.Scope | None = OMITTED, at: t.At | None = OMITTED) -> Any:
        """Nodes and edges as JSON, at most 10,000 together; larger graphs export by the CLI"""
        found: Any = await self._call(op.EXPORT_GRAPH, {"scope": scope, "at": at}, None)
        return found

    async def changes(
        self,
        from_: t.At,
        *,
        to: t.At | None = OMITTED,
        filter: t.ChangeFilter | None = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ElementChangeConnection:
        """What was added, changed and removed between two points in time, by id"""
        found: t.ElementChangeConnection = await self._call(
            op.CHANGES, {"from": from_, "to": to, "filter": filter, "first": first, "after": after}, fields
        )
        return found

    def iterate_changes(
        self,
        from_: t.At,
        *,
        to: t.At | None = OMITTED,
        filter: t.ChangeFilter | None = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.ElementChange, None]:
        """What was added, changed and removed between two points in time, by id"""
        return self._iterate(
            op.CHANGES, {"from": from_, "to": to, "filter": filter, "first": first, "after": after}, fields
        )

    async def entity(
        self,
        name: str,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.Entity | None:
        """The entity that a name or alias means; null without one"""
        found: t.Entity | None = await self._call(
            op.ENTITY, {"name": name, "tenantId": tenant_id, "projectId": project_id, "at": at}, fields
        )
        return found

    async def entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        kind: str | None = OMITTED,
        search: str | None = OMITTED,
        node_id: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.EntityConnection:
        """Entities of a project, by name, a page at a time"""
        found: t.EntityConnection = await self._call(
            op.ENTITIES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "kind": kind,
                "search": search,
                "nodeId": node_id,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        kind: str | None = OMITTED,
        search: str | None = OMITTED,
        node_id: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.Entity, None]:
        """Entities of a project, by name, a page at a time"""
        return self._iterate(
            op.ENTITIES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "kind": kind,
                "search": search,
                "nodeId": node_id,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    async def predicates(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        status: t.PredicateStatus | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Predicate]:
        """The predicates that can be said in a project: its own first, then by name; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.Predicate] = await self._call(
            op.PREDICATES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "status": status,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    async def resolve_predicate(
        self,
        alias: str,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.Predicate | None:
        """The predicate an alias means in a project; null without one, and none is registered"""
        found: t.Predicate | None = await self._call(
            op.RESOLVE_PREDICATE, {"alias": alias, "tenantId": tenant_id, "projectId": project_id, "at": at}, fields
        )
        return found

    async def active_facts(
        self,
        scope: str,
        subject: t.EntityRef,
        *,
        as_of: str | datetime | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Fact]:
        """What holds about a subject in one scope, now or at an instant; more than 200 with `first` and `after`
        (the id of the last one)
        """
        found: list[t.Fact] = await self._call(
            op.ACTIVE_FACTS,
            {
                "scope": scope,
                "subject": subject,
                "asOf": as_of,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    async def facts(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        scope: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        predicate: str | None = OMITTED,
        object: t.EntityRef | None = OMITTED,
        object_value: str | None = OMITTED,
        note_id: str | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        include_inactive: bool = OMITTED,
        evidenced_only: bool = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactConnection:
        """Facts by what they say and where it was said: those that hold, unless all are asked"""
        found: t.FactConnection = await self._call(
            op.FACTS,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "scope": scope,
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "objectValue": object_value,
                "noteId": note_id,
                "asOf": as_of,
                "includeInactive": include_inactive,
                "evidencedOnly": evidenced_only,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_facts(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        scope: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        predicate: str | None = OMITTED,
        object: t.EntityRef | None = OMITTED,
        object_value: str | None = OMITTED,
        note_id: str | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        include_inactive: bool = OMITTED,
        evidenced_only: bool = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.Fact, None]:
        """Facts by what they say and where it was said: those that hold, unless all are asked"""
        return self._iterate(
            op.FACTS,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "scope": scope,
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "objectValue": object_value,
                "noteId": note_id,
                "asOf": as_of,
                "includeInactive": include_inactive,
                "evidencedOnly": evidenced_only,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    async def fact_timeline(
        self,
        subject: t.EntityRef,
        *,
        predicate: str | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Fact]:
        """All facts of a subject in the order they began, at most 500"""
        found: list[t.Fact] = await self._call(
            op.FACT_TIMELINE,
            {
                "subject": subject,
                "predicate": predicate,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    async def why_fact(self, fact_id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.FactReasons:
        """Why a fact is believed: notes, what it replaced, what replaced it, events"""
        found: t.FactReasons = await self._call(op.WHY_FACT, {"factId": fact_id, "at": at}, fields)
        return found

    async def fact_report(
        self,
        subject: t.EntityRef,
        *,
        as_of: str | datetime | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        limit: int = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactReport:
        """Everything about a subject over all time, with marks of how far it can be trusted"""
        found: t.FactReport = await self._call(
            op.FACT_REPORT,
            {
                "subject": subject,
                "asOf": as_of,
                "scopes": scopes,
                "limit": limit,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
            },
            fields,
        )
        return found

    async def ask_facts(
        self,
        subject: t.EntityRef,
        *,
        predicate: str | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        limit: int = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactAnswer:
        """What is believed about a subject, with the notes behind it and an account of the search"""
        found: t.FactAnswer = await self._call(
            op.ASK_FACTS,
            {
                "subject": subject,
                "predicate": predicate,
                "scopes": scopes,
                "asOf": as_of,
                "limit": limit,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
            },
            fields,
        )
        return found

    async def entity_neighborhood(
        self,
        entity_id: str,
        *,
        depth: int = OMITTED,
        as_of: str | datetime | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.EntityStep]:
        """Entities around one, over facts that hold at an instant, nearest first"""
        found: list[t.EntityStep] = await self._call(
            op.ENTITY_NEIGHBORHOOD,
            {"entityId": entity_id, "depth": depth, "asOf": as_of, "at": at, "first": first, "after": after},
            fields,
        )
        return found

    async def duplicate_entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        limit: int = OMITTED,
        fields: str | None = None,
    ) -> list[t.DuplicateSuggestion]:
        """Entities that may be the same, the surest first"""
        found: list[t.DuplicateSuggestion] = await self._call(
            op.DUPLICATE_ENTITIES, {"tenantId": tenant_id, "projectId": project_id, "limit": limit}, fields
        )
        return found

    async def merge_preview(self, keep_id: str, merge_id: str, *, fields: str | None = None) -> t.MergePreview:
        """What merging two entities would do; nothing is changed"""
        found: t.MergePreview = await self._call(op.MERGE_PREVIEW, {"keepId": keep_id, "mergeId": merge_id}, fields)
        return found

    async def ontology(
        self, *, name: str = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.Ontology | None:
        """The ontology with this name; null without one"""
        found: t.Ontology | None = await self._call(op.ONTOLOGY, {"name": name, "at": at}, fields)
        return found

    async def ontologies(
        self,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Ontology]:
        """All ontologies, by name; more than 200 with `first` and `after` (the name of the last one)"""
        found: list[t.Ontology] = await self._call(op.ONTOLOGIES, {"at": at, "first": first, "after": after}, fields)
        return found

    async def validate_connection(
        self,
        connection_type: str,
        from_node_type: str,
        to_node_type: str,
        *,
        ontology: str = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ConnectionCheck:
        """Whether a connection type may lead from the one node type to the other, and why not"""
        found: t.ConnectionCheck = await self._call(
            op.VALIDATE_CONNECTION,
            {
                "connectionType": connection_type,
                "fromNodeType": from_node_type,
                "toNodeType": to_node_type,
                "ontology": ontology,
                "at": at,
            },
            fields,
        )
        return found

    async def connected_nodes(
        self,
        node_id: str,
        *,
        connection_type: str | None = OMITTED,
        direction: t.Direction = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Nodes that a node is connected with, each once, by the age of the connection; more than 200 with
        `first` and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = await self._call(
            op.CONNECTED_NODES,
            {
                "nodeId": node_id,
                "connectionType": connection_type,
                "direction": direction,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    async def search_content(
        self,
        query: str,
        *,
        node_type: str | None = OMITTED,
        limit: int = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Nodes whose text content contains the query; capitals do not matter"""
        found: list[t.GraphNode] = await self._call(
            op.SEARCH_CONTENT, {"query": query, "nodeType": node_type, "limit": limit, "at": at}, fields
        )
        return found

    async def cypher(
        self,
        query: str,
        *,
        params: Any = OMITTED,
        limit: int | None = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.CypherResult:
        """The answer to an openCypher query that only reads; EXPLAIN before it shows the plan, PROFILE shows the
        plan with row counts
        """
        found: t.CypherResult = await self._call(
            op.CYPHER, {"query": query, "params": params, "limit": limit, "view": view, "at": at}, fields
        )
        return found

    async def actor_types(self, *, fields: str | None = None) -> list[t.ActorType]:
        """Node types with the messages they handle, by name"""
        found: list[t.ActorType] = await self._call(op.ACTOR_TYPES, {}, fields)
        return found

    async def child_tasks(
        self,
        id: str,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Tasks that were made by a task, oldest first; more than 200 with `first` and `after` (the id of the
        last one)
        """
        found: list[t.GraphNode] = await self._call(
            op.CHILD_TASKS, {"id": id, "at": at, "first": first, "after": after}, fields
        )
        return found

    async def dependencies(
        self,
        id: str,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Tasks that must be complete before a task, in the order they were named; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = await self._call(
            op.DEPENDENCIES, {"id": id, "at": at, "first": first, "after": after}, fields
        )
        return found

    async def program(self, id: int, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Program | None:
        """The stored program with this number; null without one"""
        found: t.Program | None = await self._call(op.PROGRAM, {"id": id, "at": at}, fields)
        return found

    async def programs(
        self,
        *,
        search: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProgramConnection:
        """Programs the caller may use: own ones and the system's; admins see all"""
        found: t.ProgramConnection = await self._call(
            op.PROGRAMS, {"search": search, "first": first, "after": after, "at": at}, fields
        )
        return found

    def iterate_programs(
        self,
        *,
        search: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.Program, None]:
        """Programs the caller may use: own ones and the system's; admins see all"""
        return self._iterate(op.PROGRAMS, {"search": search, "first": first, "after": after, "at": at}, fields)

    async def validate_program(
        self, *, program: Any = OMITTED, dsl: str | None = OMITTED, fields: str | None = None
    ) -> t.ValidationResult:
        """All that is wrong with a program, without storing or running it"""
        found: t.ValidationResult = await self._call(op.VALIDATE_PROGRAM, {"program": program, "dsl": dsl}, fields)
        return found

    async def parse_program(self, dsl: str) -> Any:
        """The JSON of a program written as text"""
        found: Any = await self._call(op.PARSE_PROGRAM, {"dsl": dsl}, None)
        return found

    async def print_program(self, program: Any) -> str:
        """A program as text; PROGRAM_INVALID when it is none"""
        found: str = await self._call(op.PRINT_PROGRAM, {"program": program}, None)
        return found

    async def compile_blocks(self, blocks: Any) -> Any:
        """The program that a list of blocks stands for, as JSON"""
        found: Any = await self._call(op.COMPILE_BLOCKS, {"blocks": blocks}, None)
        return found

    async def program_blocks(self, program: Any) -> Any:
        """The blocks that a program was made of, from its annotations"""
        found: Any = await self._call(op.PROGRAM_BLOCKS, {"program": program}, None)
        return found

    async def migrate_exploration(self, exploration: Any) -> Any:
        """An exploration, the format before programs, as the JSON of a program"""
        found: Any = await self._call(op.MIGRATE_EXPLORATION, {"exploration": exploration}, None)
        return found

    async def execute_program(
        self,
        *,
        program: Any = OMITTED,
        dsl: str | None = OMITTED,
        program_id: int | None = OMITTED,
        params: Any = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProgramResult:
        """Run a program, with the caller's rights; an abort is part of the result"""
        found: t.ProgramResult = await self._call(
            op.EXECUTE_PROGRAM,
            {"program": program, "dsl": dsl, "programId": program_id, "params": params, "view": view, "at": at},
            fields,
        )
        return found

    async def execute_deck(
        self,
        deck: list[t.DeckEntryInput],
        *,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.BatchProgramResult:
        """Run up to ten programs in turn, each with the working graph of the one before"""
        found: t.BatchProgramResult = await self._call(op.EXECUTE_DECK, {"deck": deck, "view": view, "at": at}, fields)
        return found

    async def api_keys(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> t.ApiKeyConnection:
        """API keys of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        found: t.ApiKeyConnection = await self._call(op.API_KEYS, {"first": first, "after": after}, fields)
        return found

    def iterate_api_keys(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.ApiKey, None]:
        """API keys of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        return self._iterate(op.API_KEYS, {"first": first, "after": after}, fields)

    async def webhooks(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> t.WebhookConnection:
        """Webhooks of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        found: t.WebhookConnection = await self._call(op.WEBHOOKS, {"first": first, "after": after}, fields)
        return found

    def iterate_webhooks(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.Webhook, None]:
        """Webhooks of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        return self._iterate(op.WEBHOOKS, {"first": first, "after": after}, fields)

    async def recall(
        self,
        query: str,
        *,
        budget_tokens: int = OMITTED,
        as_of: str | datetime | None = OMITTED,
        at: t.At | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        kinds: list[t.RecallKind] | None = OMITTED,
        first: int = OMITTED,
        fields: str | None = None,
    ) -> t.RecallResult:
        """Facts that hold, notes, passages and nodes that answer a question, best first, within a budget of
        tokens
        """
        found: t.RecallResult = await self._call(
            op.RECALL,
            {
                "query": query,
                "budgetTokens": budget_tokens,
                "asOf": as_of,
                "at": at,
                "scopes": scopes,
                "kinds": kinds,
                "first": first,
            },
            fields,
        )
        return found

    async def fact_proposals(
        self,
        *,
        state: t.ProposalState = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactProposalConnection:
        """Facts that were proposed, oldest first"""
        found: t.FactProposalConnection = await self._call(
            op.FACT_PROPOSALS, {"state": state, "first": first, "after": after}, fields
        )
        return found

    def iterate_fact_proposals(
        self,
        *,
        state: t.ProposalState = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.FactProposal, None]:
        """Facts that were proposed, oldest first"""
        return self._iterate(op.FACT_PROPOSALS, {"state": state, "first": first, "after": after}, fields)

    async def viewer(self, *, fields: str | None = None) -> t.Viewer:
        """Who asks, and what they may do"""
        found: t.Viewer = await self._call(op.VIEWER, {}, fields)
        return found

    async def gateway(self, *, fields: str | None = None) -> t.Gateway | None:
        """The gateway: settings, tenants and log, for admins of the tenant default; null without a gateway"""
        found: t.Gateway | None = await self._call(op.GATEWAY, {}, fields)
        return found

    async def add_node(self, input: t.AddNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Add a node; E001 when its id is taken"""
        found: t.NodePayload = await self._call(op.ADD_NODE, {"input": input}, fields)
        return found

    async def update_node(self, input: t.UpdateNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Change a node: merge, append to and remove properties, replace type and data"""
        found: t.NodePayload = await self._call(op.UPDATE_NODE, {"input": input}, fields)
        return found

    async def upsert_node(self, input: t.AddNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Add the node, or change it when its id is taken"""
        found: t.NodePayload = await self._call(op.UPSERT_NODE, {"input": input}, fields)
        return found

    async def upsert_edge(self, input: t.UpsertEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Add the edge, or change the one with its id; without an id, the first of this type at its ends"""
        found: t.EdgePayload = await self._call(op.UPSERT_EDGE, {"input": input}, fields)
        return found

    async def delete_node(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete a node together with its edges"""
        found: t.DeletePayload = await self._call(op.DELETE_NODE, {"input": input}, fields)
        return found

    async def add_edge(self, input: t.AddEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Add an edge; missing nodes are a warning unless endpointPolicy is STRICT"""
        found: t.EdgePayload = await self._call(op.ADD_EDGE, {"input": input}, fields)
        return found

    async def update_edge(self, input: t.UpdateEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Change an edge"""
        found: t.EdgePayload = await self._call(op.UPDATE_EDGE, {"input": input}, fields)
        return found

    async def delete_edge(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete an edge"""
        found: t.DeletePayload = await self._call(op.DELETE_EDGE, {"input": input}, fields)
        return found

    async def delete(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete whatever has this id, a node together with its edges"""
        found: t.DeletePayload = await self._call(op.DELETE, {"input": input}, fields)
        return found

    async def apply_batch(
        self, operations: list[t.BatchOperation], *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.BatchPayload:
        """Do several changes, all or none"""
        found: t.BatchPayload = await self._call(
            op.APPLY_BATCH, {"operations": operations, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def revert_element(
        self,
        id: str,
        version: int,
        *,
        expected_version: int | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.BatchPayload:
        """Make an element again what it was at a version, by a new event"""
        found: t.BatchPayload = await self._call(
            op.REVERT_ELEMENT,
            {"id": id, "version": version, "expectedVersion": expected_version, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def clear_scope(
        self, scope: t.Scope, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ClearScopePayload:
        """Delete everything in a scope; the default scope only with force"""
        found: t.ClearScopePayload = await self._call(
            op.CLEAR_SCOPE, {"scope": scope, "force": force, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def load_demo(
        self, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ImportPayload:
        """Load the demonstration data; with force, what is there already stays"""
        found: t.ImportPayload = await self._call(
            op.LOAD_DEMO, {"force": force, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def import_graph(
        self,
        graph: Any,
        *,
        on_conflict: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ImportPayload:
        """Add nodes and edges given as JSON; onConflict is error, skip or replace"""
        found: t.ImportPayload = await self._call(
            op.IMPORT_GRAPH, {"graph": graph, "onConflict": on_conflict, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def snapshot(self, *, fields: str | None = None) -> t.SnapshotPayload:
        """Write the state down beside the log, so that the next start is quick"""
        found: t.SnapshotPayload = await self._call(op.SNAPSHOT, {}, fields)
        return found

    async def undo(
        self,
        input: t.UndoInput,
        *,
        preview: bool = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.UndoPayload:
        """Undo events by new ones, all or none; UNDO_CONFLICT where something else changed since"""
        found: t.UndoPayload = await self._call(
            op.UNDO, {"input": input, "preview": preview, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def upsert_entity(self, input: t.UpsertEntityInput, *, fields: str | None = None) -> t.EntityPayload:
        """Know an entity by a name; whitespace and case make no difference"""
        found: t.EntityPayload = await self._call(op.UPSERT_ENTITY, {"input": input}, fields)
        return found

    async def add_entity_alias(
        self, entity_id: str, alias: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Know an entity by another name, too"""
        found: t.EntityPayload = await self._call(
            op.ADD_ENTITY_ALIAS, {"entityId": entity_id, "alias": alias, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def rename_entity(
        self, entity_id: str, name: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Call an entity otherwise; the former name stays an alias"""
        found: t.EntityPayload = await self._call(
            op.RENAME_ENTITY, {"entityId": entity_id, "name": name, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def delete_entity(
        self, entity_id: str, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED
    ) -> bool:
        """Forget an entity; ENTITY_IN_USE when facts refer to it, unless forced"""
        found: bool = await self._call(
            op.DELETE_ENTITY, {"entityId": entity_id, "force": force, "idempotencyKey": idempotency_key}, None
        )
        return found

    async def merge_entities(
        self, keep_id: str, merge_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.MergePayload:
        """Make one entity part of another; look at mergePreview first"""
        found: t.MergePayload = await self._call(
            op.MERGE_ENTITIES, {"keepId": keep_id, "mergeId": merge_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def unmerge_entity(
        self, entity_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Undo a merge: names, aliases and facts of the merged entity come back"""
        found: t.EntityPayload = await self._call(
            op.UNMERGE_ENTITY, {"entityId": entity_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def keep_entities_apart(
        self, entity_id: str, other_id: str, *, idempotency_key: str | None = OMITTED
    ) -> bool:
        """Remember that two entities are not the same; they are not suggested again"""
        found: bool = await self._call(
            op.KEEP_ENTITIES_APART,
            {"entityId": entity_id, "otherId": other_id, "idempotencyKey": idempotency_key},
            None,
        )
        return found

    async def register_predicate(
        self, input: t.RegisterPredicateInput, *, fields: str | None = None
    ) -> t.PredicatePayload:
        """Know a predicate at a level; one that is known there stays as it is"""
        found: t.PredicatePayload = await self._call(op.REGISTER_PREDICATE, {"input": input}, fields)
        return found

    async def configure_predicate(
        self, input: t.ConfigurePredicateInput, *, fields: str | None = None
    ) -> t.PredicatePayload:
        """Change a predicate's status, cardinality, name or aliases"""
        found: t.PredicatePayload = await self._call(op.CONFIGURE_PREDICATE, {"input": input}, fields)
        return found

    async def delete_predicate(self, id: str, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a predicate that no fact refers to"""
        found: bool = await self._call(op.DELETE_PREDICATE, {"id": id, "idempotencyKey": idempotency_key}, None)
        return found

    async def add_note(
        self,
        text: str,
        *,
        source: str | None = OMITTED,
        scope: str | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        agent_id: str | None = OMITTED,
        id: str | UUID | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.NotePayload:
        """Keep a note, so that facts can be traced to it"""
        found: t.NotePayload = await self._call(
            op.ADD_NOTE,
            {
                "text": text,
                "source": source,
                "scope": scope,
                "tenantId": tenant_id,
                "projectId": project_id,
                "agentId": agent_id,
                "id": id,
                "idempotencyKey": idempotency_key,
            },
            fields,
        )
        return found

    async def delete_note(self, note_id: str, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a note with its evidence; the facts stay"""
        found: bool = await self._call(op.DELETE_NOTE, {"noteId": note_id, "idempotencyKey": idempotency_key}, None)
        return found

    async def add_fact(self, input: t.AddFactInput, *, fields: str | None = None) -> t.FactPayload:
        """Assert a fact; one that is known gets the notes as more evidence"""
        found: t.FactPayload = await self._call(op.ADD_FACT, {"input": input}, fields)
        return found

    async def invalidate_fact(
        self,
        fact_id: str,
        *,
        valid_to: str | datetime | None = OMITTED,
        reason: str | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactPayload:
        """End a fact at an instant, now unless told"""
        found: t.FactPayload = await self._call(
            op.INVALIDATE_FACT,
            {"factId": fact_id, "validTo": valid_to, "reason": reason, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def delete_fact(self, fact_id: str, *, idempotency_key: str | None = OMITTED, reopen: bool = OMITTED) -> bool:
        """Forget a fact with its evidence, as if it had never been said"""
        found: bool = await self._call(
            op.DELETE_FACT, {"factId": fact_id, "idempotencyKey": idempotency_key, "reopen": reopen}, None
        )
        return found

    async def correct_fact(self, input: t.CorrectFactInput, *, fields: str | None = None) -> t.CorrectionPayload:
        """End a fact, replace its object, or retract it as never true, with a reason"""
        found: t.CorrectionPayload = await self._call(op.CORRECT_FACT, {"input": input}, fields)
        return found

    async def ingest(self, input: t.IngestInput, *, fields: str | None = None) -> t.IngestPayload:
        """Keep notes with the entities and relations read out of them, all or none"""
        found: t.IngestPayload = await self._call(op.INGEST, {"input": input}, fields)
        return found

    async def approve_proposal(
        self, proposal_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ProposalPayload:
        """Make a proposal a fact; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = await self._call(
            op.APPROVE_PROPOSAL, {"proposalId": proposal_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def reject_proposal(
        self,
        proposal_id: str,
        *,
        reason: str | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProposalPayload:
        """Reject a proposal; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = await self._call(
            op.REJECT_PROPOSAL, {"proposalId": proposal_id, "reason": reason, "idempotencyKey": idempotency_key}, fields
        )
        return found

    async def edit_proposal(self, input: t.EditProposalInput, *, fields: str | None = None) -> t.ProposalPayload:
        """Change a pending proposal; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = await self._call(op.EDIT_PROPOSAL, {"input": input}, fields)
        return found

    async def create_ontology(self, input: t.CreateOntologyInput, *, fields: str | None = None) -> t.OntologyPayload:
        """Make an ontology; ONTOLOGY_ALREADY_EXISTS when its name is taken"""
        found: t.OntologyPayload = await self._call(op.CREATE_ONTOLOGY, {"input": input}, fields)
        return found

    async def add_node_type(
        self,
        type_name: str,
        *,
        ontology: str = OMITTED,
        properties: list[t.PropertyDefinitionInput] | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Add a node type to an ontology"""
        found: t.OntologyPayload = await self._call(
            op.ADD_NODE_TYPE,
            {"typeName": type_name, "ontology": ontology, "properties": properties, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def add_connection_type(
        self,
        type: t.ConnectionTypeInput,
        *,
        ontology: str = OMITTED,
        properties: list[t.PropertyDefinitionInput] | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Add a connection type to an ontology"""
        found: t.OntologyPayload = await self._call(
            op.ADD_CONNECTION_TYPE,
            {"type": type, "ontology": ontology, "properties": properties, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def add_property_definitions(
        self,
        input: t.TypePropertiesInput,
        *,
        ontology: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Say more about the properties of a type; what is said is never changed"""
        found: t.OntologyPayload = await self._call(
            op.ADD_PROPERTY_DEFINITIONS,
            {"input": input, "ontology": ontology, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def set_ontology_enforcement(
        self,
        enforcement: t.Enforcement,
        *,
        ontology: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Decide whether the plain graph obeys an ontology"""
        found: t.OntologyPayload = await self._call(
            op.SET_ONTOLOGY_ENFORCEMENT,
            {"enforcement": enforcement, "ontology": ontology, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    async def create_memory_node(self, input: t.MemoryNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Remember something of a type that the ontology knows"""
        found: t.NodePayload = await self._call(op.CREATE_MEMORY_NODE, {"input": input}, fields)
        return found

    async def create_connection(self, input: t.ConnectionInput, *, fields: str | None = None) -> t.EdgePayload:
        """Connect two nodes as the ontology allows"""
        found: t.EdgePayload = await self._call(op.CREATE_CONNECTION, {"input": input}, fields)
        return found

    async def send_message(self, input: t.SendMessageInput, *, fields: str | None = None) -> t.MessageResponse:
        """Ask the actor of a node to do something; what it changes is durable and all or none"""
        found: t.MessageResponse = await self._call(op.SEND_MESSAGE, {"input": input}, fields)
        return found

    async def save_program(self, input: t.SaveProgramInput, *, fields: str | None = None) -> t.ProgramPayload:
        """Validate a program and keep it; from then on it runs by its number"""
        found: t.ProgramPayload = await self._call(op.SAVE_PROGRAM, {"input": input}, fields)
        return found

    async def update_program(
        self, id: int, input: t.SaveProgramInput, *, fields: str | None = None
    ) -> t.ProgramPayload:
        """Change a stored program; what it becomes is validated as a whole"""
        found: t.ProgramPayload = await self._call(op.UPDATE_PROGRAM, {"id": id, "input": input}, fields)
        return found

    async def install_ready_programs(self, *, fields: str | None = None) -> list[t.Program]:
        """Store the ready-made programs as the system's own, once; only admins may"""
        found: list[t.Program] = await self._call(op.INSTALL_READY_PROGRAMS, {}, fields)
        return found

    async def delete_program(self, id: int, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a stored program; true when it is gone"""
        found: bool = await self._call(op.DELETE_PROGRAM, {"id": id, "idempotencyKey": idempotency_key}, None)
        return found

    async def create_api_key(self, input: t.CreateApiKeyInput, *, fields: str | None = None) -> t.ApiKeyPayload:
        """Make an API key; it is shown now and never again"""
        found: t.ApiKeyPayload = await self._call(op.CREATE_API_KEY, {"input": input}, fields)
        return found

    async def revoke_api_key(self, input: t.RevokeApiKeyInput, *, fields: str | None = None) -> t.ApiKeyPayload:
        """Take an API key back; from now on it opens nothing"""
        found: t.ApiKeyPayload = await self._call(op.REVOKE_API_KEY, {"input": input}, fields)
        return found

    async def create_webhook(self, input: t.CreateWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Send events to an address; the secret of its signatures is shown now only"""
        found: t.WebhookPayload = await self._call(op.CREATE_WEBHOOK, {"input": input}, fields)
        return found

    async def pause_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver nothing until it is resumed"""
        found: t.WebhookPayload = await self._call(op.PAUSE_WEBHOOK, {"input": input}, fields)
        return found

    async def resume_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver again, from where it was paused"""
        found: t.WebhookPayload = await self._call(op.RESUME_WEBHOOK, {"input": input}, fields)
        return found

    async def delete_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver nothing any more, and forget its dead letters"""
        found: t.WebhookPayload = await self._call(op.DELETE_WEBHOOK, {"input": input}, fields)
        return found

    async def rewind_webhook(self, input: t.RewindWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver from another place in the log, earlier or later"""
        found: t.WebhookPayload = await self._call(op.REWIND_WEBHOOK, {"input": input}, fields)
        return found

    async def redeliver_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.RedeliveryPayload:
        """Try once more to deliver the dead letters, oldest first, until one fails"""
        found: t.RedeliveryPayload = await self._call(op.REDELIVER_WEBHOOK, {"input": input}, fields)
        return found

    def watch_events(
        self, *, types: list[t.EventType] | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.Event, None]:
        """Every event, or those of some types, as they are committed"""
        return self._follow(op.WATCH_EVENTS, {"types": types, "afterSeq": after_seq}, fields)

    def watch_element_changed(
        self, id: str, *, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.Event, None]:
        """Events of one node or edge"""
        return self._follow(op.WATCH_ELEMENT_CHANGED, {"id": id, "afterSeq": after_seq}, fields)

    def watch_nodes_changed(
        self, *, filter: t.NodeFilter | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.Event, None]:
        """Nodes that meet a filter were added, changed or deleted"""
        return self._follow(op.WATCH_NODES_CHANGED, {"filter": filter, "afterSeq": after_seq}, fields)

    def watch_edges_changed(
        self, *, filter: t.EdgeFilter | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> AsyncGenerator[t.Event, None]:
        """Edges that meet a filter were added, changed or deleted"""
        return self._follow(op.WATCH_EDGES_CHANGED, {"filter": filter, "afterSeq": after_seq}, fields)

    def watch_facts_changed(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        after_seq: int | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.Fact, None]:
        """Facts that were asserted, ended, moved or got evidence, as the change left them"""
        return self._follow(
            op.WATCH_FACTS_CHANGED,
            {"tenantId": tenant_id, "projectId": project_id, "subject": subject, "afterSeq": after_seq},
            fields,
        )

    def watch_program_run(
        self,
        *,
        program: Any = OMITTED,
        dsl: str | None = OMITTED,
        program_id: int | None = OMITTED,
        params: Any = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> AsyncGenerator[t.ProgramRunUpdate, None]:
        """Run a program and hear of each step as it is done, then of the result"""
        return self._follow(
            op.WATCH_PROGRAM_RUN,
            {"program": program, "dsl": dsl, "programId": program_id, "params": params, "view": view, "at": at},
            fields,
        )

    def watch_verify_run(self, *, fields: str | None = None) -> AsyncGenerator[t.VerifyRunUpdate, None]:
        """Replay the log beside the store, hear how far it is, then what was found"""
        return self._follow(op.WATCH_VERIFY_RUN, {}, fields)


class Methods:
    """The root fields; a client says how they are sent."""

    def _call(self, operation: Operation, arguments: Mapping[str, Any], fields: str | None) -> Any:
        raise NotImplementedError

    def _iterate(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> Generator[Any, None, None]:
        raise NotImplementedError

    def _follow(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> Generator[Any, None, None]:
        raise NotImplementedError

    def graph_node(
        self, id: str, *, version: int | None = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.GraphNode | None:
        """The node with this id, now, at a version, or at a place in time; null without one"""
        found: t.GraphNode | None = self._call(op.GRAPH_NODE, {"id": id, "version": version, "at": at}, fields)
        return found

    def graph_edge(
        self, id: str, *, version: int | None = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.GraphEdge | None:
        """The edge with this id, now, at a version, or at a place in time; null without one"""
        found: t.GraphEdge | None = self._call(op.GRAPH_EDGE, {"id": id, "version": version, "at": at}, fields)
        return found

    def element(self, id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.GraphElement | None:
        """The node or edge with this id; null without one"""
        found: t.GraphElement | None = self._call(op.ELEMENT, {"id": id, "at": at}, fields)
        return found

    def node(self, id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Node | None:
        """Anything by its global id, now or at a place in time; null without one"""
        found: t.Node | None = self._call(op.NODE, {"id": id, "at": at}, fields)
        return found

    def nodes(self, ids: list[str], *, at: t.At | None = OMITTED, fields: str | None = None) -> list[t.Node | None]:
        """Anything by its global ids, now or at a place in time, in their order, null where there is none"""
        found: list[t.Node | None] = self._call(op.NODES, {"ids": ids, "at": at}, fields)
        return found

    def graph_nodes(
        self,
        *,
        filter: t.NodeFilter | None = OMITTED,
        order_by: list[t.NodeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes that meet a filter, a page at a time, by id unless told"""
        found: t.GraphNodeConnection = self._call(
            op.GRAPH_NODES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_graph_nodes(
        self,
        *,
        filter: t.NodeFilter | None = OMITTED,
        order_by: list[t.NodeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.GraphNode, None, None]:
        """Nodes that meet a filter, a page at a time, by id unless told"""
        return self._iterate(
            op.GRAPH_NODES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )

    def graph_edges(
        self,
        *,
        filter: t.EdgeFilter | None = OMITTED,
        order_by: list[t.EdgeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphEdgeConnection:
        """Edges that meet a filter, a page at a time, by id unless told"""
        found: t.GraphEdgeConnection = self._call(
            op.GRAPH_EDGES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_graph_edges(
        self,
        *,
        filter: t.EdgeFilter | None = OMITTED,
        order_by: list[t.EdgeOrder] | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        last: int | None = OMITTED,
        before: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.GraphEdge, None, None]:
        """Edges that meet a filter, a page at a time, by id unless told"""
        return self._iterate(
            op.GRAPH_EDGES,
            {
                "filter": filter,
                "orderBy": order_by,
                "first": first,
                "after": after,
                "last": last,
                "before": before,
                "at": at,
            },
            fields,
        )

    def find_by_property(
        self,
        key: str,
        *,
        value: Any = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes whose property has exactly this value, or null; numbers by value, 1 equals 1.0"""
        found: t.GraphNodeConnection = self._call(
            op.FIND_BY_PROPERTY, {"key": key, "value": value, "first": first, "after": after, "at": at}, fields
        )
        return found

    def iterate_find_by_property(
        self,
        key: str,
        *,
        value: Any = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.GraphNode, None, None]:
        """Nodes whose property has exactly this value, or null; numbers by value, 1 equals 1.0"""
        return self._iterate(
            op.FIND_BY_PROPERTY, {"key": key, "value": value, "first": first, "after": after, "at": at}, fields
        )

    def roots(
        self,
        *,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.GraphNodeConnection:
        """Nodes at which no edge arrives"""
        found: t.GraphNodeConnection = self._call(op.ROOTS, {"first": first, "after": after, "at": at}, fields)
        return found

    def iterate_roots(
        self,
        *,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.GraphNode, None, None]:
        """Nodes at which no edge arrives"""
        return self._iterate(op.ROOTS, {"first": first, "after": after, "at": at}, fields)

    def resolve(self, address: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Resolution:
        """What an address such as @(alice) or @(alice:3) leads to"""
        found: t.Resolution = self._call(op.RESOLVE, {"address": address, "at": at}, fields)
        return found

    def resolve_all(
        self, addresses: list[str], *, at: t.At | None = OMITTED, fields: str | None = None
    ) -> list[t.Resolution]:
        """What several addresses lead to, in their order"""
        found: list[t.Resolution] = self._call(op.RESOLVE_ALL, {"addresses": addresses, "at": at}, fields)
        return found

    def versions(self, id: str, *, last: int | None = OMITTED, fields: str | None = None) -> list[t.ElementVersion]:
        """Every state an element has had, oldest first; also of deleted ones"""
        found: list[t.ElementVersion] = self._call(op.VERSIONS, {"id": id, "last": last}, fields)
        return found

    def neighbors(
        self,
        id: str,
        *,
        direction: t.Direction = OMITTED,
        edge_type: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Adjacent nodes, each once, in the sequence of the edges that lead to them; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = self._call(
            op.NEIGHBORS,
            {"id": id, "direction": direction, "edgeType": edge_type, "at": at, "first": first, "after": after},
            fields,
        )
        return found

    def traverse(
        self,
        id: str,
        *,
        depth: int = OMITTED,
        direction: t.Direction = OMITTED,
        strategy: t.Strategy = OMITTED,
        edge_types: list[str] | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.TraversalStep]:
        """Nodes within a number of steps, in the order they are visited, the start first; more than 200 with
        `first` and `after` (the id of the last one)
        """
        found: list[t.TraversalStep] = self._call(
            op.TRAVERSE,
            {
                "id": id,
                "depth": depth,
                "direction": direction,
                "strategy": strategy,
                "edgeTypes": edge_types,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    def path(self, from_: str, to: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Path | None:
        """The cheapest way from one node to another; null when there is none"""
        found: t.Path | None = self._call(op.PATH, {"from": from_, "to": to, "at": at}, fields)
        return found

    def hubs(self, *, limit: int = OMITTED, at: t.At | None = OMITTED, fields: str | None = None) -> list[t.Hub]:
        """Nodes with the most edges, ties by id"""
        found: list[t.Hub] = self._call(op.HUBS, {"limit": limit, "at": at}, fields)
        return found

    def search(
        self,
        query: str,
        *,
        mode: t.SearchMode = OMITTED,
        scope: t.Scope | None = OMITTED,
        type: str | None = OMITTED,
        near: str | None = OMITTED,
        min_similarity: float | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.SearchHitConnection:
        """Nodes that answer a query, best first"""
        found: t.SearchHitConnection = self._call(
            op.SEARCH,
            {
                "query": query,
                "mode": mode,
                "scope": scope,
                "type": type,
                "near": near,
                "minSimilarity": min_similarity,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_search(
        self,
        query: str,
        *,
        mode: t.SearchMode = OMITTED,
        scope: t.Scope | None = OMITTED,
        type: str | None = OMITTED,
        near: str | None = OMITTED,
        min_similarity: float | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.SearchHit, None, None]:
        """Nodes that answer a query, best first"""
        return self._iterate(
            op.SEARCH,
            {
                "query": query,
                "mode": mode,
                "scope": scope,
                "type": type,
                "near": near,
                "minSimilarity": min_similarity,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    def stats(self, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Stats:
        """How large the graph is"""
        found: t.Stats = self._call(op.STATS, {"at": at}, fields)
        return found

    def backend(self, *, fields: str | None = None) -> t.BackendInfo:
        """What keeps the data"""
        found: t.BackendInfo = self._call(op.BACKEND, {}, fields)
        return found

    def property_keys(self, *, at: t.At | None = OMITTED) -> list[str]:
        """Every property name that a node has, sorted"""
        found: list[str] = self._call(op.PROPERTY_KEYS, {"at": at}, None)
        return found

    def scopes(self, *, at: t.At | None = OMITTED, fields: str | None = None) -> list[t.ScopeInfo]:
        """The scopes in use"""
        found: list[t.ScopeInfo] = self._call(op.SCOPES, {"at": at}, fields)
        return found

    def history(
        self,
        *,
        last: int = OMITTED,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Event]:
        """The last events, oldest of them first"""
        found: list[t.Event] = self._call(op.HISTORY, {"last": last, "types": types, "elementId": element_id}, fields)
        return found

    def events(
        self,
        *,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        after_seq: int | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.EventConnection:
        """The log, oldest first, a page at a time"""
        found: t.EventConnection = self._call(
            op.EVENTS,
            {"types": types, "elementId": element_id, "afterSeq": after_seq, "first": first, "after": after},
            fields,
        )
        return found

    def iterate_events(
        self,
        *,
        types: list[t.EventType] | None = OMITTED,
        element_id: str | None = OMITTED,
        after_seq: int | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.Event, None, None]:
        """The log, oldest first, a page at a time"""
        return self._iterate(
            op.EVENTS,
            {"types": types, "elementId": element_id, "afterSeq": after_seq, "first": first, "after": after},
            fields,
        )

    def verify(self, *, fields: str | None = None) -> t.IntegrityReport:
        """Replays the log beside the store and compares; takes a while on a large log"""
        found: t.IntegrityReport = self._call(op.VERIFY, {}, fields)
        return found

    def export_graph(self, *, scope: t.Scope | None = OMITTED, at: t.At | None = OMITTED) -> Any:
        """Nodes and edges as JSON, at most 10,000 together; larger graphs export by the CLI"""
        found: Any = self._call(op.EXPORT_GRAPH, {"scope": scope, "at": at}, None)
        return found

    def changes(
        self,
        from_: t.At,
        *,
        to: t.At | None = OMITTED,
        filter: t.ChangeFilter | None = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ElementChangeConnection:
        """What was added, changed and removed between two points in time, by id"""
        found: t.ElementChangeConnection = self._call(
            op.CHANGES, {"from": from_, "to": to, "filter": filter, "first": first, "after": after}, fields
        )
        return found

    def iterate_changes(
        self,
        from_: t.At,
        *,
        to: t.At | None = OMITTED,
        filter: t.ChangeFilter | None = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.ElementChange, None, None]:
        """What was added, changed and removed between two points in time, by id"""
        return self._iterate(
            op.CHANGES, {"from": from_, "to": to, "filter": filter, "first": first, "after": after}, fields
        )

    def entity(
        self,
        name: str,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.Entity | None:
        """The entity that a name or alias means; null without one"""
        found: t.Entity | None = self._call(
            op.ENTITY, {"name": name, "tenantId": tenant_id, "projectId": project_id, "at": at}, fields
        )
        return found

    def entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        kind: str | None = OMITTED,
        search: str | None = OMITTED,
        node_id: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.EntityConnection:
        """Entities of a project, by name, a page at a time"""
        found: t.EntityConnection = self._call(
            op.ENTITIES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "kind": kind,
                "search": search,
                "nodeId": node_id,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        kind: str | None = OMITTED,
        search: str | None = OMITTED,
        node_id: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.Entity, None, None]:
        """Entities of a project, by name, a page at a time"""
        return self._iterate(
            op.ENTITIES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "kind": kind,
                "search": search,
                "nodeId": node_id,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    def predicates(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        status: t.PredicateStatus | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Predicate]:
        """The predicates that can be said in a project: its own first, then by name; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.Predicate] = self._call(
            op.PREDICATES,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "status": status,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    def resolve_predicate(
        self,
        alias: str,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.Predicate | None:
        """The predicate an alias means in a project; null without one, and none is registered"""
        found: t.Predicate | None = self._call(
            op.RESOLVE_PREDICATE, {"alias": alias, "tenantId": tenant_id, "projectId": project_id, "at": at}, fields
        )
        return found

    def active_facts(
        self,
        scope: str,
        subject: t.EntityRef,
        *,
        as_of: str | datetime | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Fact]:
        """What holds about a subject in one scope, now or at an instant; more than 200 with `first` and `after`
        (the id of the last one)
        """
        found: list[t.Fact] = self._call(
            op.ACTIVE_FACTS,
            {
                "scope": scope,
                "subject": subject,
                "asOf": as_of,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    def facts(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        scope: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        predicate: str | None = OMITTED,
        object: t.EntityRef | None = OMITTED,
        object_value: str | None = OMITTED,
        note_id: str | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        include_inactive: bool = OMITTED,
        evidenced_only: bool = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactConnection:
        """Facts by what they say and where it was said: those that hold, unless all are asked"""
        found: t.FactConnection = self._call(
            op.FACTS,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "scope": scope,
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "objectValue": object_value,
                "noteId": note_id,
                "asOf": as_of,
                "includeInactive": include_inactive,
                "evidencedOnly": evidenced_only,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )
        return found

    def iterate_facts(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        scope: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        predicate: str | None = OMITTED,
        object: t.EntityRef | None = OMITTED,
        object_value: str | None = OMITTED,
        note_id: str | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        include_inactive: bool = OMITTED,
        evidenced_only: bool = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.Fact, None, None]:
        """Facts by what they say and where it was said: those that hold, unless all are asked"""
        return self._iterate(
            op.FACTS,
            {
                "tenantId": tenant_id,
                "projectId": project_id,
                "scope": scope,
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "objectValue": object_value,
                "noteId": note_id,
                "asOf": as_of,
                "includeInactive": include_inactive,
                "evidencedOnly": evidenced_only,
                "first": first,
                "after": after,
                "at": at,
            },
            fields,
        )

    def fact_timeline(
        self,
        subject: t.EntityRef,
        *,
        predicate: str | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Fact]:
        """All facts of a subject in the order they began, at most 500"""
        found: list[t.Fact] = self._call(
            op.FACT_TIMELINE,
            {
                "subject": subject,
                "predicate": predicate,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    def why_fact(self, fact_id: str, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.FactReasons:
        """Why a fact is believed: notes, what it replaced, what replaced it, events"""
        found: t.FactReasons = self._call(op.WHY_FACT, {"factId": fact_id, "at": at}, fields)
        return found

    def fact_report(
        self,
        subject: t.EntityRef,
        *,
        as_of: str | datetime | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        limit: int = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactReport:
        """Everything about a subject over all time, with marks of how far it can be trusted"""
        found: t.FactReport = self._call(
            op.FACT_REPORT,
            {
                "subject": subject,
                "asOf": as_of,
                "scopes": scopes,
                "limit": limit,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
            },
            fields,
        )
        return found

    def ask_facts(
        self,
        subject: t.EntityRef,
        *,
        predicate: str | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        as_of: str | datetime | None = OMITTED,
        limit: int = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactAnswer:
        """What is believed about a subject, with the notes behind it and an account of the search"""
        found: t.FactAnswer = self._call(
            op.ASK_FACTS,
            {
                "subject": subject,
                "predicate": predicate,
                "scopes": scopes,
                "asOf": as_of,
                "limit": limit,
                "tenantId": tenant_id,
                "projectId": project_id,
                "at": at,
            },
            fields,
        )
        return found

    def entity_neighborhood(
        self,
        entity_id: str,
        *,
        depth: int = OMITTED,
        as_of: str | datetime | None = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.EntityStep]:
        """Entities around one, over facts that hold at an instant, nearest first"""
        found: list[t.EntityStep] = self._call(
            op.ENTITY_NEIGHBORHOOD,
            {"entityId": entity_id, "depth": depth, "asOf": as_of, "at": at, "first": first, "after": after},
            fields,
        )
        return found

    def duplicate_entities(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        limit: int = OMITTED,
        fields: str | None = None,
    ) -> list[t.DuplicateSuggestion]:
        """Entities that may be the same, the surest first"""
        found: list[t.DuplicateSuggestion] = self._call(
            op.DUPLICATE_ENTITIES, {"tenantId": tenant_id, "projectId": project_id, "limit": limit}, fields
        )
        return found

    def merge_preview(self, keep_id: str, merge_id: str, *, fields: str | None = None) -> t.MergePreview:
        """What merging two entities would do; nothing is changed"""
        found: t.MergePreview = self._call(op.MERGE_PREVIEW, {"keepId": keep_id, "mergeId": merge_id}, fields)
        return found

    def ontology(
        self, *, name: str = OMITTED, at: t.At | None = OMITTED, fields: str | None = None
    ) -> t.Ontology | None:
        """The ontology with this name; null without one"""
        found: t.Ontology | None = self._call(op.ONTOLOGY, {"name": name, "at": at}, fields)
        return found

    def ontologies(
        self,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.Ontology]:
        """All ontologies, by name; more than 200 with `first` and `after` (the name of the last one)"""
        found: list[t.Ontology] = self._call(op.ONTOLOGIES, {"at": at, "first": first, "after": after}, fields)
        return found

    def validate_connection(
        self,
        connection_type: str,
        from_node_type: str,
        to_node_type: str,
        *,
        ontology: str = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ConnectionCheck:
        """Whether a connection type may lead from the one node type to the other, and why not"""
        found: t.ConnectionCheck = self._call(
            op.VALIDATE_CONNECTION,
            {
                "connectionType": connection_type,
                "fromNodeType": from_node_type,
                "toNodeType": to_node_type,
                "ontology": ontology,
                "at": at,
            },
            fields,
        )
        return found

    def connected_nodes(
        self,
        node_id: str,
        *,
        connection_type: str | None = OMITTED,
        direction: t.Direction = OMITTED,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Nodes that a node is connected with, each once, by the age of the connection; more than 200 with
        `first` and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = self._call(
            op.CONNECTED_NODES,
            {
                "nodeId": node_id,
                "connectionType": connection_type,
                "direction": direction,
                "at": at,
                "first": first,
                "after": after,
            },
            fields,
        )
        return found

    def search_content(
        self,
        query: str,
        *,
        node_type: str | None = OMITTED,
        limit: int = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Nodes whose text content contains the query; capitals do not matter"""
        found: list[t.GraphNode] = self._call(
            op.SEARCH_CONTENT, {"query": query, "nodeType": node_type, "limit": limit, "at": at}, fields
        )
        return found

    def cypher(
        self,
        query: str,
        *,
        params: Any = OMITTED,
        limit: int | None = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.CypherResult:
        """The answer to an openCypher query that only reads; EXPLAIN before it shows the plan, PROFILE shows the
        plan with row counts
        """
        found: t.CypherResult = self._call(
            op.CYPHER, {"query": query, "params": params, "limit": limit, "view": view, "at": at}, fields
        )
        return found

    def actor_types(self, *, fields: str | None = None) -> list[t.ActorType]:
        """Node types with the messages they handle, by name"""
        found: list[t.ActorType] = self._call(op.ACTOR_TYPES, {}, fields)
        return found

    def child_tasks(
        self,
        id: str,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Tasks that were made by a task, oldest first; more than 200 with `first` and `after` (the id of the
        last one)
        """
        found: list[t.GraphNode] = self._call(
            op.CHILD_TASKS, {"id": id, "at": at, "first": first, "after": after}, fields
        )
        return found

    def dependencies(
        self,
        id: str,
        *,
        at: t.At | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> list[t.GraphNode]:
        """Tasks that must be complete before a task, in the order they were named; more than 200 with `first`
        and `after` (the id of the last one)
        """
        found: list[t.GraphNode] = self._call(
            op.DEPENDENCIES, {"id": id, "at": at, "first": first, "after": after}, fields
        )
        return found

    def program(self, id: int, *, at: t.At | None = OMITTED, fields: str | None = None) -> t.Program | None:
        """The stored program with this number; null without one"""
        found: t.Program | None = self._call(op.PROGRAM, {"id": id, "at": at}, fields)
        return found

    def programs(
        self,
        *,
        search: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProgramConnection:
        """Programs the caller may use: own ones and the system's; admins see all"""
        found: t.ProgramConnection = self._call(
            op.PROGRAMS, {"search": search, "first": first, "after": after, "at": at}, fields
        )
        return found

    def iterate_programs(
        self,
        *,
        search: str | None = OMITTED,
        first: int | None = OMITTED,
        after: str | None = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.Program, None, None]:
        """Programs the caller may use: own ones and the system's; admins see all"""
        return self._iterate(op.PROGRAMS, {"search": search, "first": first, "after": after, "at": at}, fields)

    def validate_program(
        self, *, program: Any = OMITTED, dsl: str | None = OMITTED, fields: str | None = None
    ) -> t.ValidationResult:
        """All that is wrong with a program, without storing or running it"""
        found: t.ValidationResult = self._call(op.VALIDATE_PROGRAM, {"program": program, "dsl": dsl}, fields)
        return found

    def parse_program(self, dsl: str) -> Any:
        """The JSON of a program written as text"""
        found: Any = self._call(op.PARSE_PROGRAM, {"dsl": dsl}, None)
        return found

    def print_program(self, program: Any) -> str:
        """A program as text; PROGRAM_INVALID when it is none"""
        found: str = self._call(op.PRINT_PROGRAM, {"program": program}, None)
        return found

    def compile_blocks(self, blocks: Any) -> Any:
        """The program that a list of blocks stands for, as JSON"""
        found: Any = self._call(op.COMPILE_BLOCKS, {"blocks": blocks}, None)
        return found

    def program_blocks(self, program: Any) -> Any:
        """The blocks that a program was made of, from its annotations"""
        found: Any = self._call(op.PROGRAM_BLOCKS, {"program": program}, None)
        return found

    def migrate_exploration(self, exploration: Any) -> Any:
        """An exploration, the format before programs, as the JSON of a program"""
        found: Any = self._call(op.MIGRATE_EXPLORATION, {"exploration": exploration}, None)
        return found

    def execute_program(
        self,
        *,
        program: Any = OMITTED,
        dsl: str | None = OMITTED,
        program_id: int | None = OMITTED,
        params: Any = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProgramResult:
        """Run a program, with the caller's rights; an abort is part of the result"""
        found: t.ProgramResult = self._call(
            op.EXECUTE_PROGRAM,
            {"program": program, "dsl": dsl, "programId": program_id, "params": params, "view": view, "at": at},
            fields,
        )
        return found

    def execute_deck(
        self,
        deck: list[t.DeckEntryInput],
        *,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> t.BatchProgramResult:
        """Run up to ten programs in turn, each with the working graph of the one before"""
        found: t.BatchProgramResult = self._call(op.EXECUTE_DECK, {"deck": deck, "view": view, "at": at}, fields)
        return found

    def api_keys(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> t.ApiKeyConnection:
        """API keys of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        found: t.ApiKeyConnection = self._call(op.API_KEYS, {"first": first, "after": after}, fields)
        return found

    def iterate_api_keys(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> Generator[t.ApiKey, None, None]:
        """API keys of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        return self._iterate(op.API_KEYS, {"first": first, "after": after}, fields)

    def webhooks(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> t.WebhookConnection:
        """Webhooks of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        found: t.WebhookConnection = self._call(op.WEBHOOKS, {"first": first, "after": after}, fields)
        return found

    def iterate_webhooks(
        self, *, first: int | None = OMITTED, after: str | None = OMITTED, fields: str | None = None
    ) -> Generator[t.Webhook, None, None]:
        """Webhooks of the caller's tenant, oldest first; of all tenants for admins of `default`"""
        return self._iterate(op.WEBHOOKS, {"first": first, "after": after}, fields)

    def recall(
        self,
        query: str,
        *,
        budget_tokens: int = OMITTED,
        as_of: str | datetime | None = OMITTED,
        at: t.At | None = OMITTED,
        scopes: list[str] | None = OMITTED,
        kinds: list[t.RecallKind] | None = OMITTED,
        first: int = OMITTED,
        fields: str | None = None,
    ) -> t.RecallResult:
        """Facts that hold, notes, passages and nodes that answer a question, best first, within a budget of
        tokens
        """
        found: t.RecallResult = self._call(
            op.RECALL,
            {
                "query": query,
                "budgetTokens": budget_tokens,
                "asOf": as_of,
                "at": at,
                "scopes": scopes,
                "kinds": kinds,
                "first": first,
            },
            fields,
        )
        return found

    def fact_proposals(
        self,
        *,
        state: t.ProposalState = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactProposalConnection:
        """Facts that were proposed, oldest first"""
        found: t.FactProposalConnection = self._call(
            op.FACT_PROPOSALS, {"state": state, "first": first, "after": after}, fields
        )
        return found

    def iterate_fact_proposals(
        self,
        *,
        state: t.ProposalState = OMITTED,
        first: int = OMITTED,
        after: str | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.FactProposal, None, None]:
        """Facts that were proposed, oldest first"""
        return self._iterate(op.FACT_PROPOSALS, {"state": state, "first": first, "after": after}, fields)

    def viewer(self, *, fields: str | None = None) -> t.Viewer:
        """Who asks, and what they may do"""
        found: t.Viewer = self._call(op.VIEWER, {}, fields)
        return found

    def gateway(self, *, fields: str | None = None) -> t.Gateway | None:
        """The gateway: settings, tenants and log, for admins of the tenant default; null without a gateway"""
        found: t.Gateway | None = self._call(op.GATEWAY, {}, fields)
        return found

    def add_node(self, input: t.AddNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Add a node; E001 when its id is taken"""
        found: t.NodePayload = self._call(op.ADD_NODE, {"input": input}, fields)
        return found

    def update_node(self, input: t.UpdateNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Change a node: merge, append to and remove properties, replace type and data"""
        found: t.NodePayload = self._call(op.UPDATE_NODE, {"input": input}, fields)
        return found

    def upsert_node(self, input: t.AddNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Add the node, or change it when its id is taken"""
        found: t.NodePayload = self._call(op.UPSERT_NODE, {"input": input}, fields)
        return found

    def upsert_edge(self, input: t.UpsertEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Add the edge, or change the one with its id; without an id, the first of this type at its ends"""
        found: t.EdgePayload = self._call(op.UPSERT_EDGE, {"input": input}, fields)
        return found

    def delete_node(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete a node together with its edges"""
        found: t.DeletePayload = self._call(op.DELETE_NODE, {"input": input}, fields)
        return found

    def add_edge(self, input: t.AddEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Add an edge; missing nodes are a warning unless endpointPolicy is STRICT"""
        found: t.EdgePayload = self._call(op.ADD_EDGE, {"input": input}, fields)
        return found

    def update_edge(self, input: t.UpdateEdgeInput, *, fields: str | None = None) -> t.EdgePayload:
        """Change an edge"""
        found: t.EdgePayload = self._call(op.UPDATE_EDGE, {"input": input}, fields)
        return found

    def delete_edge(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete an edge"""
        found: t.DeletePayload = self._call(op.DELETE_EDGE, {"input": input}, fields)
        return found

    def delete(self, input: t.DeleteInput, *, fields: str | None = None) -> t.DeletePayload:
        """Delete whatever has this id, a node together with its edges"""
        found: t.DeletePayload = self._call(op.DELETE, {"input": input}, fields)
        return found

    def apply_batch(
        self, operations: list[t.BatchOperation], *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.BatchPayload:
        """Do several changes, all or none"""
        found: t.BatchPayload = self._call(
            op.APPLY_BATCH, {"operations": operations, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def revert_element(
        self,
        id: str,
        version: int,
        *,
        expected_version: int | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.BatchPayload:
        """Make an element again what it was at a version, by a new event"""
        found: t.BatchPayload = self._call(
            op.REVERT_ELEMENT,
            {"id": id, "version": version, "expectedVersion": expected_version, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def clear_scope(
        self, scope: t.Scope, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ClearScopePayload:
        """Delete everything in a scope; the default scope only with force"""
        found: t.ClearScopePayload = self._call(
            op.CLEAR_SCOPE, {"scope": scope, "force": force, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def load_demo(
        self, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ImportPayload:
        """Load the demonstration data; with force, what is there already stays"""
        found: t.ImportPayload = self._call(op.LOAD_DEMO, {"force": force, "idempotencyKey": idempotency_key}, fields)
        return found

    def import_graph(
        self,
        graph: Any,
        *,
        on_conflict: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ImportPayload:
        """Add nodes and edges given as JSON; onConflict is error, skip or replace"""
        found: t.ImportPayload = self._call(
            op.IMPORT_GRAPH, {"graph": graph, "onConflict": on_conflict, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def snapshot(self, *, fields: str | None = None) -> t.SnapshotPayload:
        """Write the state down beside the log, so that the next start is quick"""
        found: t.SnapshotPayload = self._call(op.SNAPSHOT, {}, fields)
        return found

    def undo(
        self,
        input: t.UndoInput,
        *,
        preview: bool = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.UndoPayload:
        """Undo events by new ones, all or none; UNDO_CONFLICT where something else changed since"""
        found: t.UndoPayload = self._call(
            op.UNDO, {"input": input, "preview": preview, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def upsert_entity(self, input: t.UpsertEntityInput, *, fields: str | None = None) -> t.EntityPayload:
        """Know an entity by a name; whitespace and case make no difference"""
        found: t.EntityPayload = self._call(op.UPSERT_ENTITY, {"input": input}, fields)
        return found

    def add_entity_alias(
        self, entity_id: str, alias: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Know an entity by another name, too"""
        found: t.EntityPayload = self._call(
            op.ADD_ENTITY_ALIAS, {"entityId": entity_id, "alias": alias, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def rename_entity(
        self, entity_id: str, name: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Call an entity otherwise; the former name stays an alias"""
        found: t.EntityPayload = self._call(
            op.RENAME_ENTITY, {"entityId": entity_id, "name": name, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def delete_entity(self, entity_id: str, *, force: bool = OMITTED, idempotency_key: str | None = OMITTED) -> bool:
        """Forget an entity; ENTITY_IN_USE when facts refer to it, unless forced"""
        found: bool = self._call(
            op.DELETE_ENTITY, {"entityId": entity_id, "force": force, "idempotencyKey": idempotency_key}, None
        )
        return found

    def merge_entities(
        self, keep_id: str, merge_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.MergePayload:
        """Make one entity part of another; look at mergePreview first"""
        found: t.MergePayload = self._call(
            op.MERGE_ENTITIES, {"keepId": keep_id, "mergeId": merge_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def unmerge_entity(
        self, entity_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.EntityPayload:
        """Undo a merge: names, aliases and facts of the merged entity come back"""
        found: t.EntityPayload = self._call(
            op.UNMERGE_ENTITY, {"entityId": entity_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def keep_entities_apart(self, entity_id: str, other_id: str, *, idempotency_key: str | None = OMITTED) -> bool:
        """Remember that two entities are not the same; they are not suggested again"""
        found: bool = self._call(
            op.KEEP_ENTITIES_APART,
            {"entityId": entity_id, "otherId": other_id, "idempotencyKey": idempotency_key},
            None,
        )
        return found

    def register_predicate(self, input: t.RegisterPredicateInput, *, fields: str | None = None) -> t.PredicatePayload:
        """Know a predicate at a level; one that is known there stays as it is"""
        found: t.PredicatePayload = self._call(op.REGISTER_PREDICATE, {"input": input}, fields)
        return found

    def configure_predicate(self, input: t.ConfigurePredicateInput, *, fields: str | None = None) -> t.PredicatePayload:
        """Change a predicate's status, cardinality, name or aliases"""
        found: t.PredicatePayload = self._call(op.CONFIGURE_PREDICATE, {"input": input}, fields)
        return found

    def delete_predicate(self, id: str, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a predicate that no fact refers to"""
        found: bool = self._call(op.DELETE_PREDICATE, {"id": id, "idempotencyKey": idempotency_key}, None)
        return found

    def add_note(
        self,
        text: str,
        *,
        source: str | None = OMITTED,
        scope: str | None = OMITTED,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        agent_id: str | None = OMITTED,
        id: str | UUID | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.NotePayload:
        """Keep a note, so that facts can be traced to it"""
        found: t.NotePayload = self._call(
            op.ADD_NOTE,
            {
                "text": text,
                "source": source,
                "scope": scope,
                "tenantId": tenant_id,
                "projectId": project_id,
                "agentId": agent_id,
                "id": id,
                "idempotencyKey": idempotency_key,
            },
            fields,
        )
        return found

    def delete_note(self, note_id: str, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a note with its evidence; the facts stay"""
        found: bool = self._call(op.DELETE_NOTE, {"noteId": note_id, "idempotencyKey": idempotency_key}, None)
        return found

    def add_fact(self, input: t.AddFactInput, *, fields: str | None = None) -> t.FactPayload:
        """Assert a fact; one that is known gets the notes as more evidence"""
        found: t.FactPayload = self._call(op.ADD_FACT, {"input": input}, fields)
        return found

    def invalidate_fact(
        self,
        fact_id: str,
        *,
        valid_to: str | datetime | None = OMITTED,
        reason: str | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.FactPayload:
        """End a fact at an instant, now unless told"""
        found: t.FactPayload = self._call(
            op.INVALIDATE_FACT,
            {"factId": fact_id, "validTo": valid_to, "reason": reason, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def delete_fact(self, fact_id: str, *, idempotency_key: str | None = OMITTED, reopen: bool = OMITTED) -> bool:
        """Forget a fact with its evidence, as if it had never been said"""
        found: bool = self._call(
            op.DELETE_FACT, {"factId": fact_id, "idempotencyKey": idempotency_key, "reopen": reopen}, None
        )
        return found

    def correct_fact(self, input: t.CorrectFactInput, *, fields: str | None = None) -> t.CorrectionPayload:
        """End a fact, replace its object, or retract it as never true, with a reason"""
        found: t.CorrectionPayload = self._call(op.CORRECT_FACT, {"input": input}, fields)
        return found

    def ingest(self, input: t.IngestInput, *, fields: str | None = None) -> t.IngestPayload:
        """Keep notes with the entities and relations read out of them, all or none"""
        found: t.IngestPayload = self._call(op.INGEST, {"input": input}, fields)
        return found

    def approve_proposal(
        self, proposal_id: str, *, idempotency_key: str | None = OMITTED, fields: str | None = None
    ) -> t.ProposalPayload:
        """Make a proposal a fact; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = self._call(
            op.APPROVE_PROPOSAL, {"proposalId": proposal_id, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def reject_proposal(
        self,
        proposal_id: str,
        *,
        reason: str | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.ProposalPayload:
        """Reject a proposal; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = self._call(
            op.REJECT_PROPOSAL, {"proposalId": proposal_id, "reason": reason, "idempotencyKey": idempotency_key}, fields
        )
        return found

    def edit_proposal(self, input: t.EditProposalInput, *, fields: str | None = None) -> t.ProposalPayload:
        """Change a pending proposal; FORBIDDEN for whoever proposed it"""
        found: t.ProposalPayload = self._call(op.EDIT_PROPOSAL, {"input": input}, fields)
        return found

    def create_ontology(self, input: t.CreateOntologyInput, *, fields: str | None = None) -> t.OntologyPayload:
        """Make an ontology; ONTOLOGY_ALREADY_EXISTS when its name is taken"""
        found: t.OntologyPayload = self._call(op.CREATE_ONTOLOGY, {"input": input}, fields)
        return found

    def add_node_type(
        self,
        type_name: str,
        *,
        ontology: str = OMITTED,
        properties: list[t.PropertyDefinitionInput] | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Add a node type to an ontology"""
        found: t.OntologyPayload = self._call(
            op.ADD_NODE_TYPE,
            {"typeName": type_name, "ontology": ontology, "properties": properties, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def add_connection_type(
        self,
        type: t.ConnectionTypeInput,
        *,
        ontology: str = OMITTED,
        properties: list[t.PropertyDefinitionInput] | None = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Add a connection type to an ontology"""
        found: t.OntologyPayload = self._call(
            op.ADD_CONNECTION_TYPE,
            {"type": type, "ontology": ontology, "properties": properties, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def add_property_definitions(
        self,
        input: t.TypePropertiesInput,
        *,
        ontology: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Say more about the properties of a type; what is said is never changed"""
        found: t.OntologyPayload = self._call(
            op.ADD_PROPERTY_DEFINITIONS,
            {"input": input, "ontology": ontology, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def set_ontology_enforcement(
        self,
        enforcement: t.Enforcement,
        *,
        ontology: str = OMITTED,
        idempotency_key: str | None = OMITTED,
        fields: str | None = None,
    ) -> t.OntologyPayload:
        """Decide whether the plain graph obeys an ontology"""
        found: t.OntologyPayload = self._call(
            op.SET_ONTOLOGY_ENFORCEMENT,
            {"enforcement": enforcement, "ontology": ontology, "idempotencyKey": idempotency_key},
            fields,
        )
        return found

    def create_memory_node(self, input: t.MemoryNodeInput, *, fields: str | None = None) -> t.NodePayload:
        """Remember something of a type that the ontology knows"""
        found: t.NodePayload = self._call(op.CREATE_MEMORY_NODE, {"input": input}, fields)
        return found

    def create_connection(self, input: t.ConnectionInput, *, fields: str | None = None) -> t.EdgePayload:
        """Connect two nodes as the ontology allows"""
        found: t.EdgePayload = self._call(op.CREATE_CONNECTION, {"input": input}, fields)
        return found

    def send_message(self, input: t.SendMessageInput, *, fields: str | None = None) -> t.MessageResponse:
        """Ask the actor of a node to do something; what it changes is durable and all or none"""
        found: t.MessageResponse = self._call(op.SEND_MESSAGE, {"input": input}, fields)
        return found

    def save_program(self, input: t.SaveProgramInput, *, fields: str | None = None) -> t.ProgramPayload:
        """Validate a program and keep it; from then on it runs by its number"""
        found: t.ProgramPayload = self._call(op.SAVE_PROGRAM, {"input": input}, fields)
        return found

    def update_program(self, id: int, input: t.SaveProgramInput, *, fields: str | None = None) -> t.ProgramPayload:
        """Change a stored program; what it becomes is validated as a whole"""
        found: t.ProgramPayload = self._call(op.UPDATE_PROGRAM, {"id": id, "input": input}, fields)
        return found

    def install_ready_programs(self, *, fields: str | None = None) -> list[t.Program]:
        """Store the ready-made programs as the system's own, once; only admins may"""
        found: list[t.Program] = self._call(op.INSTALL_READY_PROGRAMS, {}, fields)
        return found

    def delete_program(self, id: int, *, idempotency_key: str | None = OMITTED) -> bool:
        """Forget a stored program; true when it is gone"""
        found: bool = self._call(op.DELETE_PROGRAM, {"id": id, "idempotencyKey": idempotency_key}, None)
        return found

    def create_api_key(self, input: t.CreateApiKeyInput, *, fields: str | None = None) -> t.ApiKeyPayload:
        """Make an API key; it is shown now and never again"""
        found: t.ApiKeyPayload = self._call(op.CREATE_API_KEY, {"input": input}, fields)
        return found

    def revoke_api_key(self, input: t.RevokeApiKeyInput, *, fields: str | None = None) -> t.ApiKeyPayload:
        """Take an API key back; from now on it opens nothing"""
        found: t.ApiKeyPayload = self._call(op.REVOKE_API_KEY, {"input": input}, fields)
        return found

    def create_webhook(self, input: t.CreateWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Send events to an address; the secret of its signatures is shown now only"""
        found: t.WebhookPayload = self._call(op.CREATE_WEBHOOK, {"input": input}, fields)
        return found

    def pause_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver nothing until it is resumed"""
        found: t.WebhookPayload = self._call(op.PAUSE_WEBHOOK, {"input": input}, fields)
        return found

    def resume_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver again, from where it was paused"""
        found: t.WebhookPayload = self._call(op.RESUME_WEBHOOK, {"input": input}, fields)
        return found

    def delete_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver nothing any more, and forget its dead letters"""
        found: t.WebhookPayload = self._call(op.DELETE_WEBHOOK, {"input": input}, fields)
        return found

    def rewind_webhook(self, input: t.RewindWebhookInput, *, fields: str | None = None) -> t.WebhookPayload:
        """Deliver from another place in the log, earlier or later"""
        found: t.WebhookPayload = self._call(op.REWIND_WEBHOOK, {"input": input}, fields)
        return found

    def redeliver_webhook(self, input: t.ManageWebhookInput, *, fields: str | None = None) -> t.RedeliveryPayload:
        """Try once more to deliver the dead letters, oldest first, until one fails"""
        found: t.RedeliveryPayload = self._call(op.REDELIVER_WEBHOOK, {"input": input}, fields)
        return found

    def watch_events(
        self, *, types: list[t.EventType] | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> Generator[t.Event, None, None]:
        """Every event, or those of some types, as they are committed"""
        return self._follow(op.WATCH_EVENTS, {"types": types, "afterSeq": after_seq}, fields)

    def watch_element_changed(
        self, id: str, *, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> Generator[t.Event, None, None]:
        """Events of one node or edge"""
        return self._follow(op.WATCH_ELEMENT_CHANGED, {"id": id, "afterSeq": after_seq}, fields)

    def watch_nodes_changed(
        self, *, filter: t.NodeFilter | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> Generator[t.Event, None, None]:
        """Nodes that meet a filter were added, changed or deleted"""
        return self._follow(op.WATCH_NODES_CHANGED, {"filter": filter, "afterSeq": after_seq}, fields)

    def watch_edges_changed(
        self, *, filter: t.EdgeFilter | None = OMITTED, after_seq: int | None = OMITTED, fields: str | None = None
    ) -> Generator[t.Event, None, None]:
        """Edges that meet a filter were added, changed or deleted"""
        return self._follow(op.WATCH_EDGES_CHANGED, {"filter": filter, "afterSeq": after_seq}, fields)

    def watch_facts_changed(
        self,
        *,
        tenant_id: str | None = OMITTED,
        project_id: str | None = OMITTED,
        subject: t.EntityRef | None = OMITTED,
        after_seq: int | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.Fact, None, None]:
        """Facts that were asserted, ended, moved or got evidence, as the change left them"""
        return self._follow(
            op.WATCH_FACTS_CHANGED,
            {"tenantId": tenant_id, "projectId": project_id, "subject": subject, "afterSeq": after_seq},
            fields,
        )

    def watch_program_run(
        self,
        *,
        program: Any = OMITTED,
        dsl: str | None = OMITTED,
        program_id: int | None = OMITTED,
        params: Any = OMITTED,
        view: t.CypherView = OMITTED,
        at: t.At | None = OMITTED,
        fields: str | None = None,
    ) -> Generator[t.ProgramRunUpdate, None, None]:
        """Run a program and hear of each step as it is done, then of the result"""
        return self._follow(
            op.WATCH_PROGRAM_RUN,
            {"program": program, "dsl": dsl, "programId": program_id, "params": params, "view": view, "at": at},
            fields,
        )

    def watch_verify_run(self, *, fields: str | None = None) -> Generator[t.VerifyRunUpdate, None, None]:
        """Replay the log beside the store, hear how far it is, then what was found"""
        return self._follow(op.WATCH_VERIFY_RUN, {}, fields)
