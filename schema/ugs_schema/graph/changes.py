"""GraphQL of the difference between two positions of the log, and of its reversal."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry

from ugs.errors import InvalidSyntax
from ugs.graph.api import Changed
from ugs.graph.changes import ChangeFilter as KernelFilter
from ugs.graph.changes import ChangeKind as KernelKind
from ugs.graph.changes import ElementChange as KernelChange
from ugs.graph.changes import State
from ugs.graph.undo import Undo, UndoObstacle
from ugs.reads.plan import Page
from ugs_schema.context import Info
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.events import Event, to_graphql_event
from ugs_schema.graph.inputs import RETRY_DESCRIPTION
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.pagination import PageInfo, build_page_info
from ugs_schema.scalars import Json, Position


@strawberry.enum(description="What happened to an element between two positions of the log")
class ChangeKind(Enum):
    ADDED = strawberry.enum_value("ADDED", description="It does not exist at the earlier one")
    CHANGED = strawberry.enum_value("CHANGED", description="It exists at both and differs")
    REMOVED = strawberry.enum_value("REMOVED", description="It does not exist at the later one")


@strawberry.enum(description="What may change: elements of the graph, and records of other subjects")
class ElementKind(Enum):
    NODE = strawberry.enum_value("node", description="Nodes")
    EDGE = strawberry.enum_value("edge", description="Edges")
    ENTITY = strawberry.enum_value("entity", description="Entities, with their aliases")
    PREDICATE = strawberry.enum_value("predicate", description="Predicates, with their aliases")
    NOTE = strawberry.enum_value("note", description="Notes")
    FACT = strawberry.enum_value("fact", description="Facts, with their evidence and what superseded them")
    ONTOLOGY = strawberry.enum_value("ontology", description="Ontologies, with their types and properties")


@strawberry.input(description="Which changes are wanted; what is left out does not matter")
class ChangeFilter:
    kinds: list[ChangeKind] | None = strawberry.field(default=None, description="Changes of these kinds")
    element: ElementKind | None = strawberry.field(default=None, description="Only nodes, edges, or one kind of record")
    types: list[str | None] | None = strawberry.field(
        default=None,
        description="Elements with one of these types, before or after; null: without a type; no records",
    )
    ids: list[strawberry.ID] | None = strawberry.field(default=None, description="These elements and records")


@strawberry.type(description="An element or a record that differs between two positions of the log")
class ElementChange:
    change: strawberry.Private[KernelChange]

    @strawberry.field(description="Its id")
    def element_id(self) -> strawberry.ID:
        return strawberry.ID(self.change.id)

    @strawberry.field(description="Whether it is a node, an edge, or a record of another kind")
    def element(self) -> ElementKind:
        return ElementKind(self.change.element_kind)

    @strawberry.field(description="What happened to it")
    def kind(self) -> ChangeKind:
        return ChangeKind[self.change.kind.name]

    @strawberry.field(description="The names of the fields that differ, sorted; all properties together are one")
    def fields(self) -> list[str]:
        return self.change.fields

    @strawberry.field(description="The element before, as an export shows it; null where it did not exist")
    def before(self) -> Json | None:
        return to_graphql_state(self.change.before)

    @strawberry.field(description="The element after, as an export shows it; null where it does not exist")
    def after(self) -> Json | None:
        return to_graphql_state(self.change.after)


def to_graphql_state(state: State | None) -> Json | None:
    """A state as JSON."""
    return None if state is None else Json(state.as_json())


@strawberry.type(description="A change on a page, with the cursor behind it")
class ElementChangeEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: ElementChange = strawberry.field(description="The change")


@strawberry.type(description="A page of changes, by id")
class ElementChangeConnection:
    edges: list[ElementChangeEdge] = strawberry.field(description="The changes with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")
    from_position: Position = strawberry.field(description="The earlier of the compared positions")
    to_position: Position = strawberry.field(
        description="The later of the compared positions; give it as `to` for the next page"
    )

    @strawberry.field(description="The changes alone")
    def nodes(self) -> list[ElementChange]:
        return [edge.node for edge in self.edges]


@strawberry.type
class ChangesQuery:
    @strawberry.field(description="What was added, changed and removed between two points in time, by id")
    async def changes(
        self,
        info: Info,
        start: Annotated[At, strawberry.argument(name="from", description="The earlier point in time")],
        to: Annotated[At | None, strawberry.argument(description="The later one; now when left out")] = None,
        filter: ChangeFilter | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> ElementChangeConnection:
        begin = parse_at(start)
        if begin is None:
            raise InvalidSyntax("from is a position or an instant")
        found = await info.context.graph.changes(begin, parse_at(to), to_kernel_filter(filter), first, after)
        cursors = [change.cursor for change in found.changes]
        edges = [
            ElementChangeEdge(cursor=cursor, node=ElementChange(change=change))
            for cursor, change in zip(cursors, found.changes, strict=True)
        ]
        page = Page(limit=first, after=() if after else None)
        return ElementChangeConnection(
            edges=edges,
            page_info=build_page_info(page, found.has_more, cursors),
            from_position=Position(found.start),
            to_position=Position(found.end),
        )


def to_kernel_filter(given: ChangeFilter | None) -> KernelFilter:
    """The kernel's filter; an empty list of kinds, types or ids means the same as none."""
    if given is None:
        return KernelFilter()
    return KernelFilter(
        frozenset(KernelKind[kind.name] for kind in given.kinds or ()),
        "" if given.element is None else str(given.element.value),
        frozenset(given.types or ()),
        frozenset(given.ids or ()),
    )


@strawberry.input(description="A part of the log")
class PositionRange:
    after: Position = strawberry.field(description="The events behind this position")
    until: Position | None = strawberry.field(default=None, description="Up to this one; to the end when left out")


@strawberry.input(one_of=True, description="Which events are undone")
class UndoInput:
    events: list[Position] | None = strawberry.field(default=strawberry.UNSET, description="Events, by position")
    transaction: Position | None = strawberry.field(
        default=strawberry.UNSET, description="All events of the batch that has this position"
    )
    range: PositionRange | None = strawberry.field(default=strawberry.UNSET, description="A part of the log")


@strawberry.type(description="Why events cannot be undone")
class UndoConflict:
    seq: Position = strawberry.field(description="The event that stands in the way")
    element_id: strawberry.ID | None = strawberry.field(description="The element it is about")
    message: str = strawberry.field(description="In words")


@strawberry.type(description="What an undo did, or would do")
class UndoPayload:
    done: bool = strawberry.field(description="False for a preview: nothing was changed")
    changes: list[ElementChange] = strawberry.field(description="For a preview: now and after the undo, by id")
    conflicts: list[UndoConflict] = strawberry.field(
        description="For a preview: what stands in the way; without preview that is an error"
    )
    events: list[Event] = strawberry.field(description="What happened, in order")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")


@strawberry.type
class UndoMutation:
    @strawberry.mutation(
        description="Undo events by new ones, all or none; UNDO_CONFLICT where something else changed since"
    )
    async def undo(
        self,
        info: Info,
        input: UndoInput,
        preview: Annotated[bool, strawberry.argument(description="Show what would change, and change nothing")] = False,
        idempotency_key: Annotated[str | None, strawberry.argument(description=RETRY_DESCRIPTION)] = None,
    ) -> UndoPayload:
        selection = to_undo_command(input)
        if not preview:
            return to_undo_payload(await info.context.graph.undo(selection, idempotency_key))
        plan = await info.context.graph.preview_undo(selection)
        return UndoPayload(
            done=False,
            changes=[ElementChange(change=change) for change in plan.changes],
            conflicts=[to_graphql_conflict(conflict) for conflict in plan.conflicts],
            events=[],
            warnings=[],
        )


def to_undo_command(given: UndoInput) -> Undo:
    """The command of an input."""
    if given.range:
        return Undo(after=given.range.after, until=given.range.until)
    if given.events:
        return Undo(positions=tuple(given.events))
    if isinstance(given.transaction, int):
        return Undo(transaction=given.transaction)
    raise InvalidSyntax("an undo takes a range, events, or a transaction: exactly one of them, and not empty")


def to_graphql_conflict(conflict: UndoObstacle) -> UndoConflict:
    """The GraphQL object of a conflict."""
    id = None if conflict.element is None else strawberry.ID(conflict.element)
    return UndoConflict(seq=Position(conflict.position), element_id=id, message=conflict.reason)


def to_undo_payload(done: Changed) -> UndoPayload:
    """The answer to an undo that was done."""
    return UndoPayload(
        done=True,
        changes=[],
        conflicts=[],
        events=[to_graphql_event(event) for event in done.events],
        warnings=to_graphql_warnings(done.warnings),
    )
