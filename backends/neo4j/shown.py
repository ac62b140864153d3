"""What of a plan's rows is shown, as far as a rendering says so: other columns need not come across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from ugs.catalog import Table
from ugs.reads.plan import Order, Read, full_order
from ugs.reads.rendering import Body, Column, Cursor, EndCursor, Further, Items, Many, One, Parts, Piece, Rendering


class Shown(Struct, frozen=True, eq=False):
    """The fields shown of a read's rows, and of the rows related to them."""

    fields: frozenset[str]
    cursors: bool
    further: bool
    """Whether it is told if there are more rows than the page has."""
    nest: Mapping[str, Shown]

    def columns(self, read: Read, among: Iterable[str]) -> list[str]:
        """The fields that writing the rows takes, in their order."""
        needed = self.fields | _placed(read.table, read.order) if self.cursors else self.fields
        return [name for name in among if name in needed]


@lru_cache(maxsize=512)
def _placed(table: Table, order: tuple[Order, ...]) -> frozenset[str]:
    return frozenset(part.field for part in full_order(table, order))


@lru_cache(maxsize=1024)
def shown_by(rendering: Rendering) -> Shown:
    """What a rendering shows; the same object for the same rendering."""
    return _shown(rendering.root)


def _shown(root: Body | Parts) -> Shown:
    bodies = [root] if isinstance(root, Body) else [part.body for part in root.pieces if isinstance(part, Items)]
    pieces = [piece for body in bodies for piece in body.pieces]
    ends: tuple[Piece, ...] = () if isinstance(root, Body) else root.pieces
    return Shown(
        frozenset(piece.field for piece in pieces if isinstance(piece, Column)),
        any(isinstance(piece, Cursor | EndCursor) for piece in (*pieces, *ends)),
        any(isinstance(piece, Further) for piece in ends),
        _merged([(piece.name, _shown(_root(piece))) for piece in pieces if isinstance(piece, One | Many)]),
    )


def _root(piece: One | Many) -> Body | Parts:
    return piece.body if isinstance(piece, One) else piece.parts


def _merged(found: list[tuple[str, Shown]]) -> dict[str, Shown]:
    """The same rows may be shown in two places, with other fields."""
    merged: dict[str, Shown] = {}
    for name, shown in found:
        before = merged.get(name)
        merged[name] = shown if before is None else _both(before, shown)
    return merged


def _both(one: Shown, other: Shown) -> Shown:
    nest = _merged([*one.nest.items(), *other.nest.items()])
    return Shown(one.fields | other.fields, one.cursors or other.cursors, one.further or other.further, nest)
