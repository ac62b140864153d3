"""Large JSON from clients and to them: handled in a worker thread, so that it does not block the event loop.

A mebibyte may hold hundreds of thousands of values. What was found about the parts of such a text (`Verdicts`) is kept
for the request that it came with, so that the scalar JSON need not check them again (`check_once`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from math import inf
from typing import Any

import msgspec

from ugs.errors import UgsError
from ugs.support.budget import charge
from ugs.support.worker_threads import compute_in_thread, take_turn
from ugs.values import Json, check_value, parse_json

LARGE_BYTES = 64 << 10
"""Longer texts are parsed in a thread; shorter ones take a few milliseconds."""
LARGE_COUNT = 5_000
"""Values with more parts than this are handled in a thread."""
VALUE_BYTES = 80
"""Memory of one value, about: an object and its place in a list or map."""
VERDICT_LEVELS = 6
"""How deep in a request the values of the scalar JSON lie: variables, then input objects and lists."""

PIECE_WEIGHT, CHARS_OF_WEIGHT = 2_000, 64
"""What is encoded at once, which no other thread can interrupt: values, and characters of texts."""

Verdicts = Mapping[int, tuple[object, UgsError | None]]
"""Checked values by identity, each with the error that `check_value` raises for it; holding them keeps ids unique."""

_verdicts: ContextVar[Verdicts] = ContextVar("ugs_checked_json", default={})  # noqa: B039 (never changed)


async def parse_bounded(text: bytes, max_depth: int) -> tuple[Json, Verdicts]:
    """Parse and check JSON, a large one in a thread; its memory is charged to the request."""
    if len(text) <= LARGE_BYTES:
        return parse_json(text, max_depth), {}
    value, verdicts, size = await compute_in_thread(lambda: _parse(text, max_depth))
    charge(size)
    return value, verdicts


def _parse(text: bytes, max_depth: int) -> tuple[Json, Verdicts, int]:
    value = parse_json(text, max_depth)
    verdicts: dict[int, tuple[object, UgsError | None]] = {}
    _judge(value, VERDICT_LEVELS, verdicts)
    return value, verdicts, len(text) + VALUE_BYTES * count_values(value)


def _judge(value: Any, levels: int, verdicts: dict[int, tuple[object, UgsError | None]]) -> None:
    """Check the value, and if it is too deep as a whole the values inside it as well."""
    if not isinstance(value, dict | list):
        return
    error = None
    try:
        check_value(value)
    except UgsError as found:
        error = found
    verdicts[id(value)] = value, error
    if levels:
        for part in value.values() if isinstance(value, dict) else value:
            if is_large(part):
                _judge(part, levels - 1, verdicts)


def share_verdicts(verdicts: Verdicts) -> None:
    """Let `check_once` know what is checked already, in the current task."""
    _verdicts.set(verdicts)


def check_once(value: object) -> None:
    """As `check_value`, without looking again at a value that came with a large request."""
    known = _verdicts.get().get(id(value))
    if known is None or known[0] is not value:
        check_value(value)
    elif known[1] is not None:
        raise known[1]


def is_large(value: object) -> bool:
    """Whether a value has so many parts that handling them would block the event loop; looks at no more of them."""
    return count_values(value, LARGE_COUNT) > LARGE_COUNT


def count_values(value: object, max_count: float = inf) -> int:
    """How many values there are inside lists and maps, at all levels; stops counting beyond `max_count`."""
    count, waiting = 0, [value]
    while waiting and count <= max_count:
        one = waiting.pop()
        if isinstance(one, dict | list):
            count += len(one)
            if count <= max_count:
                waiting += one.values() if isinstance(one, dict) else one
    return count


# ── large values into text ───────────────────────────────────────────────────

_encode = msgspec.json.Encoder().encode


def json_pieces(value: Any, convert: Callable[[Any], Any] = lambda value: value) -> Iterator[bytes]:
    """The JSON text of a value in pieces, each encoded in less than a millisecond (a single text is not divided);
    `convert` makes JSON of values inside lists and maps. For a worker thread: takes turns with others in between."""
    take_turn()
    if isinstance(value, list) and _weight(value) > PIECE_WEIGHT:
        yield from _list_pieces(value, convert)
    elif isinstance(value, dict) and _weight(value) > PIECE_WEIGHT:
        yield b"{"
        for number, (key, part) in enumerate(value.items()):
            yield b"%b%b:" % (b"," if number else b"", _encode(key))
            yield from json_pieces(part, convert)
        yield b"}"
    else:
        yield _encode(convert(value))


def _list_pieces(items: list[Any], convert: Callable[[Any], Any]) -> Iterator[bytes]:
    """The pieces of a list; small items that follow each other are encoded together."""
    comma, small, weight = b"", list[Any](), 0
    yield b"["
    for item in items:
        added = 1 + _weight(item)
        if small and weight + added > PIECE_WEIGHT:
            yield comma + _encode(small)[1:-1]
            take_turn()
            comma, small, weight = b",", [], 0
        if added > PIECE_WEIGHT:
            yield comma
            yield from json_pieces(item, convert)
            comma = b","
        else:
            small.append(convert(item))
            weight += added
    if small:
        yield comma + _encode(small)[1:-1]
    yield b"]"


def _weight(value: Any) -> int:
    """About how much work it is to encode a value; looks at no more of it than weighs `PIECE_WEIGHT`."""
    weight, waiting = 0, [value]
    while waiting and weight <= PIECE_WEIGHT:
        one = waiting.pop()
        if isinstance(one, str):
            weight += len(one) // CHARS_OF_WEIGHT
        elif isinstance(one, dict | list):
            weight += len(one)
            if weight <= PIECE_WEIGHT:
                waiting += one.values() if isinstance(one, dict) else one
    return weight
