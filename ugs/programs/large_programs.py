"""Parsing and validation of programs of any size without blocking the event loop: large ones are handled in a thread.

A program comes from a client, and each of its queries is parsed: a mebibyte of them takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ugs.programs.ast import GraphProgram
from ugs.programs.blocks import blocks_of, compile_blocks
from ugs.programs.commands import parse_valid
from ugs.programs.errors import ProgramInvalid
from ugs.programs.migration import from_exploration
from ugs.programs.text import parse_text, print_text
from ugs.programs.text.parser import ParsedText
from ugs.programs.validation.json_decoder import decode
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.programs.validation.result import ValidationResult, result_of
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


async def print_off_loop(raw: object) -> str:
    """A program in JSON as text; it may break rules, but has the structure of a program, else PROGRAM_INVALID."""
    return await _off_loop(raw, lambda: print_text(decode_tree(raw)))


async def print_stored_off_loop(definition: object) -> str:
    """The definition of a stored program as text."""
    return await _off_loop(definition, lambda: print_text(msgspec.convert(definition, GraphProgram)))


async def blocks_of_off_loop(raw: object) -> list[dict[str, Any]]:
    """As `blocks_of`, of a program in JSON."""
    return await _off_loop(raw, lambda: blocks_of(decode_tree(raw)))


async def compile_blocks_off_loop(raw: object) -> dict[str, Any]:
    """As `compile_blocks`, the program as JSON."""
    return await _off_loop(raw, lambda: compile_blocks(raw).as_json())


async def from_exploration_off_loop(raw: object) -> dict[str, Any]:
    """As `from_exploration`."""
    return await _off_loop(raw, lambda: from_exploration(raw))


def decode_tree(raw: object) -> GraphProgram:
    """The syntax tree. JSON that is not a program is rejected; violations of other rules are not."""
    program, found = decode(raw)
    if program is None:
        raise ProgramInvalid(result_of(found))
    return program


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
