"""How large an answer may be: what is longer is cut, and the answer says what was cut and how to ask for the rest."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from gateway.mcp.tool import Json
from ugs.ontology.listing import Ids

_size = msgspec.json.Encoder().encode


class Bounds(Struct, frozen=True):
    """What one call may take and give."""

    bytes: int = 1 << 20
    seconds: float = 30.0


USUAL = Bounds()


class Cut(Struct, frozen=True):
    """Which part of an answer is not all of it."""

    field: str
    shown: int
    of: int | None
    """None: of more than are shown."""

    def __str__(self) -> str:
        what = "characters" if self.field == "content" else "entries"
        many = f"{self.shown} {what}; there are more" if self.of is None else f"{self.shown} of {self.of} {what}"
        return (
            f"Cut: {self.field} shows the first {many}. Ask more narrowly, or page through "
            "them with list_nodes, list_connections and read_content of the profile `extended`."
        )


def within(answer: Json, most: int) -> tuple[Json, Cut | None]:
    """The answer, with its longest part cut where the whole is larger than `most` bytes."""
    whole = len(_size(answer))
    if whole <= most:
        return answer, _already_cut(answer)
    sizes = {name: len(_size(value)) for name, value in answer.items() if isinstance(value, str | list)}
    if not sizes:
        return answer, None
    field = max(sizes, key=lambda name: sizes[name])
    value = answer[field]
    kept = _first(value, most - (whole - sizes[field]))
    return {**answer, field: value[:kept]}, Cut(field, kept, _total(value))


def _already_cut(answer: Json) -> Cut | None:
    """What of the answer was not even read."""
    cuts = (Cut(name, len(value), _total(value)) for name, value in answer.items() if isinstance(value, Ids))
    return next((cut for cut in cuts if cut.shown != cut.of), None)


def _total(value: str | list[Any]) -> int | None:
    return value.total if isinstance(value, Ids) else len(value)


def _first(value: str | list[Any], most: int) -> int:
    """How many items or characters from the start take at most so many bytes."""
    low, high = 0, len(value)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_size(value[:middle])) <= most:
            low = middle
        else:
            high = middle - 1
    return low
