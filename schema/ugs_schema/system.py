"""Root query fields of the system: counts, event log, integrity check and store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

import strawberry
from msgspec import Raw

from ugs.errors import DigestMismatch, InvalidSyntax, LimitExceeded, WALCorrupt
from ugs.graph.model import EDGES, NODES
from ugs.graph.queries import stats
from ugs.identity import Scope, is_identifier
from ugs.log.at import At as KernelAt
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.reads.plan import Page
from ugs.storage import EventQuery
from ugs.support.budget import charge
from ugs.system import State, Verification
from ugs_schema.compiler.graphql_executor import BUDGET
from ugs_schema.context import Info, RequestContext
from ugs_schema.graph.command_warnings import Warning
from ugs_schema.graph.events import Event, EventConnection, EventEdge, EventType, to_graphql_event
from ugs_schema.graph.result_types import ScopeInfo
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.pagination import build_page_info, parse_page_size
from ugs_schema.scalars import Json, Position

strawberry.enum(State, name="SystemState", description="Where the system is in its life")
MAX_EXPORTED = 10_000
BY_POSITION = "position"


@strawberry.type(description="How many elements have a type; null is the type of those without one")
class TypeCount:
    type: str | None = strawberry.field(description="The type")
    count: int = strawberry.field(description="How many elements have it")


@strawberry.type(description="How large the graph is")
class Stats:
    nodes: int = strawberry.field(description="How many nodes there are")
    edges: int = strawberry.field(description="How many edges there are")
    types: int = strawberry.field(description="How many different types nodes have")
    properties: int = strawberry.field(description="How many different property names nodes have")
    events: Position = strawberry.field(description="How many events the log holds")
    at: strawberry.Private[KernelAt | None]

    @strawberry.field(description="Nodes by type, most frequent first")
    async def node_types(self, info: Info) -> list[TypeCount]:
        async with info.context.system.session_at(self.at) as session:
            return to_type_counts(await session.group(NODES, "type"))

    @strawberry.field(description="Edges by type, most frequent first")
    async def edge_types(self, info: Info) -> list[TypeCount]:
        async with info.context.system.session_at(self.at) as session:
            return to_type_counts(await session.group(EDGES, "type"))


@strawberry.type(description="What keeps the data")
class BackendInfo:
    name: str = strawberry.field(description="The store in words")
    kind: str = strawberry.field(description="Which backend it is")
    version: str | None = strawberry.field(description="The version of the server behind it, where there is one")
    state: State = strawberry.field(description="Where the system is in its life")
    capabilities: list[str] = strawberry.field(description="What the store does by itself; changes speed, not answers")


@strawberry.type(description="Whether the stored state is what the log says")
class IntegrityReport:
    ok: bool = strawberry.field(description="Replaying the log gives exactly the stored state")
    events_checked: Position = strawberry.field(description="How many events were replayed")
    digest: str = strawberry.field(description="Hash of the stored state; equal on every store with the same log")
    problems: list[Warning] = strawberry.field(description="What differs")


@strawberry.type
class SystemQuery:
    @strawberry.field(description="How large the graph is")
    async def stats(self, info: Info, at: At | None = None) -> Stats:
        return await read_stats(info.context, parse_at(at))

    @strawberry.field(description="What keeps the data")
    def backend(self, info: Info) -> BackendInfo:
        return describe_backend(info.context)

    @strawberry.field(description="Every property name that a node has, sorted")
    async def property_keys(self, info: Info, at: At | None = None) -> list[str]:
        return await info.context.graph.property_keys(parse_at(at))

    @strawberry.field(description="The scopes in use")
    async def scopes(self, info: Info, at: At | None = None) -> list[ScopeInfo]:
        found = await info.context.graph.scopes(parse_at(at))
        return [
            ScopeInfo(scope=one.scope, name=one.scope.value, node_count=one.nodes, edge_count=one.edges)
            for one in found
        ]

    @strawberry.field(description="The last events, oldest of them first")
    async def history(
        self,
        info: Info,
        last: int = 20,
        types: list[EventType] | None = None,
        element_id: strawberry.ID | None = None,
    ) -> list[Event]:
        if not 0 <= last <= 500:
            raise LimitExceeded("last lies between 0 and 500", limit=500)
        found = await info.context.log.newest(last, element_id, _to_type_names(types))
        return [to_graphql_event(event) for event in found]

    @strawberry.field(description="The log, oldest first, a page at a time")
    async def events(
        self,
        info: Info,
        types: list[EventType] | None = None,
        element_id: strawberry.ID | None = None,
        after_seq: Position | None = None,
        first: int | None = 100,
        after: str | None = None,
    ) -> EventConnection:
        limit = parse_page_size({"first": first}, "first")
        return await read_event_page(
            info, _to_type_names(types), element_id, parse_start(after_seq, after), 100 if limit is None else limit
        )

    @strawberry.field(description="Replays the log beside the store and compares; takes a while on a large log")
    async def verify(self, info: Info) -> IntegrityReport:
        return to_integrity_report(await info.context.system.verify())

    @strawberry.field(description="Nodes and edges as JSON, at most 10,000 together; larger graphs export by the CLI")
    async def export_graph(self, info: Info, scope: Scope | None = None, at: At | None = None) -> Json:
        async with info.context.system.session_at(parse_at(at)) as session:
            size = await session.count(NODES) + await session.count(EDGES)
        if size > MAX_EXPORTED:
            raise LimitExceeded(f"the graph has {size} elements, the export by GraphQL at most {MAX_EXPORTED}")
        pieces, size, budget = [], 0, BUDGET.get()
        async with aclosing(info.context.graph.export_text(scope, parse_at(at))) as texts:
            async for piece in texts:
                size += len(piece)
                budget.check(size)
                charge(len(piece))
                pieces.append(piece)
        return Json(Raw(b"".join(pieces)))


@strawberry.type(description="News of a running check: how far it is, or at last what it found")
class VerifyRunUpdate:
    events_checked: Position = strawberry.field(description="How many events were replayed so far")
    events: Position = strawberry.field(description="How many there are to replay")
    report: IntegrityReport | None = strawberry.field(description="The end")


@strawberry.type
class SystemSubscription:
    @strawberry.subscription(description="Replay the log beside the store, hear how far it is, then what was found")
    async def verify_run(self, info: Info) -> AsyncIterator[VerifyRunUpdate]:
        latest, moved = (0, 0), asyncio.Event()

        def note_progress(done: int, of: int) -> None:
            nonlocal latest
            latest = (done, of)
            moved.set()

        running = asyncio.create_task(info.context.system.verify(note_progress))
        running.add_done_callback(lambda task: moved.set())
        try:
            while not running.done():
                await moved.wait()
                moved.clear()
                if not running.done():
                    yield VerifyRunUpdate(events_checked=Position(latest[0]), events=Position(latest[1]), report=None)
            report = to_integrity_report(await running)
            yield VerifyRunUpdate(events_checked=report.events_checked, events=report.events_checked, report=report)
        finally:
            running.cancel()


def to_integrity_report(found: Verification) -> IntegrityReport:
    problems = [Warning(code=WALCorrupt.code, message=problem, id=None) for problem in found.problems]
    if found.stored != found.replayed:
        told = "the state differs from what the log says"
        problems.append(Warning(code=DigestMismatch.code, message=told, id=None))
    return IntegrityReport(ok=found.ok, events_checked=Position(found.events), digest=found.stored, problems=problems)


def _to_type_names(types: list[EventType] | None) -> frozenset[str] | None:
    return None if types is None else frozenset(type.name for type in types)


def parse_start(after_seq: int | None, after: str | None) -> int:
    """The position after which a page of the log begins, from `afterSeq` or a cursor."""
    if after is None:
        return after_seq or 0
    if after_seq is not None:
        raise InvalidSyntax("continue after a position or after a cursor, not after both")
    (position,) = decode_cursor(after, BY_POSITION, 1)
    if not isinstance(position, int):
        raise InvalidSyntax("The cursor belongs to another list; start again without it")
    return position


async def read_event_page(
    info: Info, types: frozenset[str] | None, element: str | None, after: int, limit: int
) -> EventConnection:
    started = Page(limit=limit, after=() if after else None)
    if element is not None and not is_identifier(element):
        return EventConnection(edges=[], page_info=build_page_info(started, False, []))
    page = await info.context.log.page(EventQuery(after=after, limit=limit, element=element, types=types))
    cursors = [encode_cursor(BY_POSITION, (event.position,)) for event in page.events]
    edges = [EventEdge(cursor=c, node=to_graphql_event(e)) for c, e in zip(cursors, page.events, strict=True)]
    shown = build_page_info(started, page.has_more, cursors)
    # Hidden events are skipped, so the page may end beyond its last visible event; the cursor continues from there.
    if page.has_more and limit:
        shown.end_cursor = encode_cursor(BY_POSITION, (page.reached,))
    return EventConnection(edges=edges, page_info=shown)


def to_type_counts(counts: Mapping[str | None, int]) -> list[TypeCount]:
    """Counts by type, the most frequent first, then by name."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return [TypeCount(type=type, count=count) for type, count in ranked]


async def read_stats(context: RequestContext, at: KernelAt | None) -> Stats:
    """The counts, now or at a point in time."""
    async with context.system.session_at(at) as session:
        found = await stats(session)
        head = await session.head()
    return Stats(**found.as_json(), events=Position(head.position), at=at)


def describe_backend(context: RequestContext) -> BackendInfo:
    """A description of the store, without secrets."""
    storage = context.system.storage
    able = storage.capabilities
    declared = [name for name in ("durable", "concurrent_writers") if getattr(able, name)]
    return BackendInfo(
        name=storage.describe(),
        kind=storage.scheme,
        version=getattr(storage, "version", None),
        state=context.system.state,
        capabilities=[*declared, *sorted(able.native)],
    )
