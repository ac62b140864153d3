"""Parsing and validation of programs of any size without blocking the event loop: large ones are handled in a thread.

A program comes from a client, and each of its queries is parsed: a mebibyte of them takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ugs.programs.ast import GraphProgram
from ugs.programs.commands import parse_valid
from ugs.programs.text import parse_text
from ugs.programs.text.parser import ParsedText
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.result import ValidationResult
from ugs.programs.validation.validator import decode_and_validate
from ugs.support.worker_threads import compute_in_thread

LARGE_CHARS = 4_000
"""Larger programs are handled in a thread; smaller ones take up to 20 ms."""
Work = TypeVar("Work")


async def parse_text_off_loop(text: str) -> ParsedText:
    """As `parse_text`."""
    return await _off_loop(text, lambda: parse_text(text))


async def decode_and_validate_off_loop(
    raw: object, bounds: Bounds = BOUNDS
) -> tuple[GraphProgram | None, ValidationResult]:
    """As `decode_and_validate`."""
    return await _off_loop(raw, lambda: decode_and_validate(raw, bounds))


async def parse_valid_off_loop(raw: object, bounds: Bounds) -> GraphProgram:
    """As `parse_valid`."""
    return await _off_loop(raw, lambda: parse_valid(raw, bounds))


async def _off_loop(raw: object, work: Callable[[], Work]) -> Work:
    return await compute_in_thread(work) if is_large(raw) else work()


def is_large(raw: object) -> bool:
    """Whether a program, as text or as JSON, has so many characters and values; looks at no more of them."""
    size, waiting = 0, [raw]
    while waiting and size <= LARGE_CHARS:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, dict | list):
            size += len(one)
            waiting += (one.values() if isinstance(one, dict) else one) if size <= LARGE_CHARS else ()
    return size > LARGE_CHARS
