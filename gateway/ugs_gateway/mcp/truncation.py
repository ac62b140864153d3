"""The size limit of results.

A longer list is truncated, and the result says how to get the rest. A longer text is refused, with how to read it in
parts, because a truncated text looks complete. A result with neither, or one that is too large without them, is
refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ugs.errors import AnswerTooLarge, LimitExceeded
from ugs.large_json import is_large, json_pieces
from ugs.ontology.id_lists import Ids
from ugs.support.time_slice import TimeSlice
from ugs.support.worker_threads import compute_in_thread
from ugs_gateway.mcp.tools.base import Json

EMPTY = b"[]"
CHUNK = 64
"""Items of a list that are measured at once."""
ENVELOPE_BYTES = 64
"""The rest of a result, beside its longest part, may always take this many bytes."""
_size = msgspec.json.Encoder().encode


class Bounds(Struct, frozen=True):
    """The limits of one call."""

    bytes: int = 1 << 20
    seconds: float = 30.0
    trusted_only: bool = False
    """Whether queries and programs that come with a call are for admins only."""


DEFAULT_BOUNDS = Bounds()


class Truncation(Struct, frozen=True):
    """Which part of a result is truncated."""

    field: str
    shown: int
    of: int | None
    """None: of more than are shown."""

    def __str__(self) -> str:
        many = f"{self.shown} entries; there are more" if self.of is None else f"{self.shown} of {self.of} entries"
        return (
            f"Cut: {self.field} shows the first {many}. Ask more narrowly, or page through "
            "them with list_nodes and list_connections of the profile `extended`."
        )


async def truncate(answer: Json, max_bytes: int) -> tuple[Json, Truncation | None]:
    """The result, with its longest part truncated if it is larger than `max_bytes`. A result of any size is measured
    without blocking the event loop for long."""
    sizes = {name: await _measure(value) for name, value in answer.items()}
    keys = sum([len(_size(name)) + 1 for name in answer])
    whole = len("{}") + keys + sum([one.bytes for one in sizes.values()]) + max(len(answer) - 1, 0)
    if whole <= max_bytes:
        return answer, _already_cut(answer)
    parts = [name for name, value in answer.items() if isinstance(value, str | list)]
    if not parts:
        raise too_large(whole, max_bytes)
    field = max(parts, key=lambda name: sizes[name].bytes)
    value, rest = answer[field], whole - sizes[field].bytes
    if rest + len(EMPTY) > max(max_bytes, ENVELOPE_BYTES):
        raise too_large(whole, max_bytes)
    if isinstance(value, str):
        raise _too_long(field, value, max_bytes)
    kept = await _first(value, sizes[field], max_bytes - rest)
    return {**answer, field: value[:kept]}, Truncation(field, kept, _total(value))


class Measure(NamedTuple):
    """The size of a value as JSON; of a list also that of each `CHUNK` of its items, without brackets."""

    bytes: int
    chunks: list[int]


async def _measure(value: Any) -> Measure:
    if not isinstance(value, list) or not value:
        return Measure(await _measure_part(value), [])
    turn, chunks = TimeSlice(), []
    for start in range(0, len(value), CHUNK):
        chunks.append(await _measure_part(value[start : start + CHUNK]) - len(EMPTY))
        await turn.pause()
    return Measure(len(EMPTY) + sum(chunks) + len(chunks) - 1, chunks)


async def _measure_part(value: Any) -> int:
    """The size of a value as JSON, of one with very many parts in a worker thread."""
    if not is_large(value):
        return len(_size(value))
    return await compute_in_thread(lambda: sum(map(len, json_pieces(value))))


def too_large(size: int, max_bytes: int) -> AnswerTooLarge:
    """The error for a result that cannot be truncated."""
    reason = f"The answer has {size} bytes, and an answer has at most {max_bytes}: ask for less at once"
    return AnswerTooLarge(
        f"{reason}, or have the limit raised (mcp_max_bytes, or --max-bytes of ugs mcp)", limit=max_bytes
    )


def _too_long(field: str, text: str, max_bytes: int) -> LimitExceeded:
    size = len(text.encode())
    return LimitExceeded(
        f"The {field} has {len(text)} characters ({size} bytes), and an answer has at most {max_bytes} bytes. Read it "
        "in parts by offset and length, with read_content of the profile `extended`, or have the limit raised "
        "(mcp_max_bytes, or --max-bytes of ugs mcp)",
        limit=max_bytes,
        total=len(text),
    )


def _already_cut(answer: Json) -> Truncation | None:
    """What was not even read for the result."""
    cuts = (Truncation(name, len(value), _total(value)) for name, value in answer.items() if isinstance(value, Ids))
    return next((cut for cut in cuts if cut.shown != cut.of), None)


def _total(value: str | list[Any]) -> int | None:
    return value.total if isinstance(value, Ids) else len(value)


async def _first(items: list[Any], size: Measure, max_bytes: int) -> int:
    """How many leading items take at most so many bytes, brackets and commas included."""
    kept, left = 0, max_bytes - len(EMPTY) + 1  # the first item has no comma before it
    for chunk in size.chunks:
        if chunk + 1 > left:
            break
        kept, left = kept + CHUNK, left - chunk - 1
    for item in items[kept : kept + CHUNK]:
        left -= await _measure_part(item) + 1
        if left < 0:
            break
        kept += 1
    return min(kept, len(items))
