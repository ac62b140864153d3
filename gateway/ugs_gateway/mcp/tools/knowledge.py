"""Tools of the profile `extended` for the vocabulary of facts, and for the history of everything: versions and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from ugs.clock import iso
from ugs.errors import InvalidArgument
from ugs.facts import queries
from ugs.facts.api import Facts
from ugs.facts.errors import InvalidFact
from ugs.facts.model import ENTITIES, SINGLE, Entity, Predicate
from ugs.graph.api import Graph
from ugs.graph.changes import ElementState, state_after
from ugs.graph.undo import Undo
from ugs.graph.versions import ElementVersion
from ugs.log.log_reader import LogReader
from ugs.ontology.api import Memory
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs.reads.filters import Compare, Op, all_of
from ugs.reads.plan import Page
from ugs.storage import EventQuery
from ugs_gateway.mcp import inputs
from ugs_gateway.mcp.tools.base import ADDS, CHANGES, READS, Json, MemoryTool, retry_key_of
from ugs_gateway.mcp.tools.graph import without_content

RESULT: Json = {"type": "object"}
MAX_LISTED = 200
Limit = Annotated[int, Meta(ge=1, le=MAX_LISTED)]
Cursor = Annotated[str, Meta(description="next_cursor of the page before")]


class Predicates(inputs.Arguments, frozen=True):
    action: Literal["list", "configure"] = "list"
    name: Annotated[str, Meta(description="The predicate to configure")] | None = None
    cardinality: (
        Annotated[Literal["single", "multi"], Meta(description="single: a newer value ends the older")] | None
    ) = None
    status: Literal["pending", "active", "deprecated"] | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Subjects(inputs.Arguments, frozen=True):
    search: Annotated[str, Meta(description="A part of the name")] | None = None
    kind: str | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Versions(inputs.Arguments, frozen=True):
    element_id: Annotated[str, Meta(description="A node or a connection")]
    limit: Limit = 20
    cursor: Cursor | None = None


class UndoArguments(inputs.Arguments, frozen=True):
    positions: Annotated[list[int], Meta(max_length=1_000, description="Events to undo")] | None = None
    transaction: Annotated[int, Meta(description="All events of the batch that has this one")] | None = None
    after: Annotated[int, Meta(description="All events behind this position")] | None = None
    preview: Annotated[bool, Meta(description="Only tell what would change")] = True
    limit: Limit = 50


def page_of(
    rows: Sequence[Any], key_of: Callable[[Any], str], order: str, limit: int, cursor: str | None
) -> tuple[list[Any], Json]:
    """A page of rows that are all at hand, and what points to the next one."""
    start = 0
    if cursor is not None:
        (last,) = decode_cursor(cursor, order, 1)
        start = next((place + 1 for place, row in enumerate(rows) if key_of(row) == last), len(rows))
    shown = list(rows[start : start + limit])
    more = start + limit < len(rows)
    return shown, {"next_cursor": encode_cursor(order, (key_of(shown[-1]),))} if more else {}


# ── predicates and subjects ──────────────────────────────────────────────────


async def predicates(memory: Memory, arguments: Predicates) -> Json:
    """List the predicates of the project, or configure one by its name."""
    facts = Facts(memory.system, memory.principal)
    if arguments.action == "list":
        rows = await facts.predicates(arguments.status)
        shown, more = page_of(rows, lambda row: row.predicate_id, "predicate", arguments.limit, arguments.cursor)
        return {"predicates": [predicate_to_json(row) for row in shown], **more}
    if arguments.name is None:
        raise InvalidFact("name says which predicate is configured", field="name")
    key = retry_key_of(memory)
    changes = {"status": arguments.status, "cardinality": arguments.cardinality}
    if arguments.cardinality == SINGLE and arguments.status is None:
        changes["status"] = "active"  # only then a newer value ends the older
    done = await facts.configure_predicate(
        name=arguments.name, key=key, **{name: value for name, value in changes.items() if value is not None}
    )
    return {"predicate": predicate_to_json(done.predicate), "conflicts": len(done.conflicts)}


def predicate_to_json(row: Predicate) -> Json:
    return {"name": row.canonical, "cardinality": row.cardinality, "status": row.status}


async def subjects(memory: Memory, arguments: Subjects) -> Json:
    """The entities that facts are about, by name."""
    facts = Facts(memory.system, memory.principal)
    where = queries.entities_where(facts.space(None, None), facts.viewer, arguments.kind, arguments.search)
    if arguments.cursor is not None:
        (last,) = decode_cursor(arguments.cursor, "subject", 1)
        where = all_of(where, Compare("canonical_norm", Op.GT, last))
    async with facts.known() as session:
        rows: list[Entity] = await session.fetch(ENTITIES, where, queries.BY_NAME, Page(limit=arguments.limit + 1))
    shown = rows[: arguments.limit]
    more = len(rows) > arguments.limit
    cursor = {"next_cursor": encode_cursor("subject", (shown[-1].canonical_norm,))} if more else {}
    return {"subjects": [subject_to_json(row) for row in shown], **cursor}


def subject_to_json(row: Entity) -> Json:
    kind = {} if row.kind is None else {"kind": row.kind}
    return {"id": row.entity_id, "name": row.canonical, **kind}


# ── versions and undo ────────────────────────────────────────────────────────


async def versions(memory: Memory, arguments: Versions) -> Json:
    """Every state of a node or a connection with its content, newest first."""
    life = (await Graph(memory.system, memory.principal).versions(arguments.element_id))[::-1]
    shown, more = page_of(life, lambda one: str(one.event.position), "version", arguments.limit, arguments.cursor)
    page = await LogReader(memory.system, memory.principal).page(EventQuery(element=arguments.element_id))
    told = [version_to_json(one, state_after(arguments.element_id, page.events, one.event.position)) for one in shown]
    return {"versions": told, **more}


def version_to_json(one: ElementVersion, state: ElementState | None) -> Json:
    """A version with the element as it was; a deletion has none."""
    known = {} if state is None else {"element": without_content(state)}
    content = {} if state is None or state.content is None else {"content": state.content}
    return {
        "version": one.version,
        "position": one.event.position,
        "time": iso(one.timestamp),
        "event": one.event.type,
        **known,
        **content,
    }


async def undo(memory: Memory, arguments: UndoArguments) -> Json:
    """Show what an undo would change, or do it."""
    graph = Graph(memory.system, memory.principal)
    selection = Undo(
        after=arguments.after, positions=tuple(arguments.positions or ()), transaction=arguments.transaction
    )
    if selection.positions == () and arguments.positions is not None:
        raise InvalidArgument("positions names at least one event", argument="positions")
    if not arguments.preview:
        done = await graph.undo(selection, retry_key_of(memory))
        return {"done": True, "events": len(done.events)}
    plan = await graph.preview_undo(selection)
    changes = [
        {"id": one.id, "element": one.element_kind, "change": one.kind.value.lower(), "fields": one.fields}
        for one in plan.changes[: arguments.limit]
    ]
    conflicts = [{"position": one.position, "reason": one.reason} for one in plan.conflicts[: arguments.limit]]
    left = {"omitted": len(plan.changes) - arguments.limit} if len(plan.changes) > arguments.limit else {}
    return {"done": False, "changes": changes, "conflicts": conflicts, **left}


KNOWLEDGE_TOOLS = (
    MemoryTool(
        "predicates",
        "Predicates",
        "List what is said about subjects, or configure a predicate by name: single lets a newer value end the older.",
        Predicates,
        RESULT,
        ADDS,
        predicates,
        reads=lambda arguments: arguments.action == "list",
        keeps_key=True,
    ),
    MemoryTool(
        "subjects",
        "Subjects",
        "Whom and what facts are about, by name.",
        Subjects,
        RESULT,
        READS,
        subjects,
    ),
    MemoryTool(
        "versions",
        "Versions of an element",
        "Every state of a node or connection with its content, newest first.",
        Versions,
        RESULT,
        READS,
        versions,
    ),
    MemoryTool(
        "undo",
        "Undo",
        "Reverse events by new ones; refused where something else changed since. First with preview.",
        UndoArguments,
        RESULT,
        CHANGES,
        undo,
        reads=lambda arguments: arguments.preview,
        keeps_key=True,
    ),
)
