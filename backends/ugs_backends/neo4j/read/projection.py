"""Projection: the columns that a rendering needs; others are not transferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from ugs.reads.plan import Order, Read, full_order
from ugs.reads.rendering import (
    Cursor,
    EndCursor,
    HasMore,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    fields_of,
)
from ugs.support.bounded_cache import bounded_cache
from ugs.tables import Table


class Projection(Struct, frozen=True, eq=False):
    """The fields that are rendered of a read's rows, and of their related rows."""

    fields: frozenset[str]
    cursors: bool
    further: bool
    """Whether the rendering shows if more rows follow the page."""
    nest: Mapping[str, Projection]

    def columns(self, read: Read, among: Iterable[str]) -> list[str]:
        """The fields needed to render the rows, in order."""
        needed = self.fields | _list_cursor_fields(read.table, read.order) if self.cursors else self.fields
        return [name for name in among if name in needed]


@lru_cache(maxsize=512)
def _list_cursor_fields(table: Table, order: tuple[Order, ...]) -> frozenset[str]:
    return frozenset(part.field for part in full_order(table, order))


@bounded_cache(max_entries=512, max_bytes=4 << 20)
def get_projection(rendering: Rendering) -> Projection:
    """The projection of a rendering, cached."""
    return _build_projection(rendering.root)


def _build_projection(root: RowTemplate | PageTemplate) -> Projection:
    bodies = [root] if isinstance(root, RowTemplate) else [part.body for part in root.pieces if isinstance(part, Items)]
    pieces = [piece for body in bodies for piece in body.pieces]
    ends: tuple[Piece, ...] = () if isinstance(root, RowTemplate) else root.pieces
    return Projection(
        frozenset(name for piece in pieces for name in fields_of(piece)),
        any(isinstance(piece, Cursor | EndCursor) for piece in (*pieces, *ends)),
        any(isinstance(piece, HasMore) for piece in ends),
        _merge_nested(
            [
                (piece.name, _build_projection(_find_root(piece)))
                for piece in pieces
                if isinstance(piece, RelatedRow | RelatedPage)
            ]
        ),
    )


def _find_root(piece: RelatedRow | RelatedPage) -> RowTemplate | PageTemplate:
    return piece.body if isinstance(piece, RelatedRow) else piece.parts


def _merge_nested(found: list[tuple[str, Projection]]) -> dict[str, Projection]:
    """Merge projections of the same relation, which may be rendered twice with different fields."""
    merged: dict[str, Projection] = {}
    for name, shown in found:
        before = merged.get(name)
        merged[name] = shown if before is None else _merge(before, shown)
    return merged


def _merge(one: Projection, other: Projection) -> Projection:
    nest = _merge_nested([*one.nest.items(), *other.nest.items()])
    return Projection(one.fields | other.fields, one.cursors or other.cursors, one.further or other.further, nest)
