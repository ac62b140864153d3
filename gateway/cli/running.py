"""Running an operation: words become what was asked, the port answers, the voice speaks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from importlib import import_module
from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.commands import NOW_ONLY, Entry
from gateway.cli.exits import OK
from gateway.cli.outcome import Misused, Speech
from gateway.cli.places import Place, opened_port
from gateway.cli.ports import Port
from gateway.cli.speaking import choose_mode
from gateway.cli.usage import Asked, read_usage, read_words
from gateway.cli.voices import voice_of
from ugs.errors import InvalidSyntax


def understood(entry: Entry, words: Sequence[str]) -> Asked:
    """What the words ask for."""
    try:
        return read_words(read_usage(entry.usage), words)
    except InvalidSyntax as error:
        raise Misused(error.message) from error


def run_operation(entry: Entry, words: Sequence[str], place: Place, flag: str | None, speech: Speech) -> int:
    """Run one operation on the place; answers the exit code."""
    asked = understood(entry, words)
    if "at" in place.options and entry.name in NOW_ONLY:
        raise Misused(f"--at means nothing to {entry.name}")
    return asyncio.run(_run(entry, asked, place, flag, speech))


async def _run(entry: Entry, asked: Asked, place: Place, flag: str | None, speech: Speech) -> int:
    async with opened_port(place) as port:
        speech.voice = voice_of(await mode_of(port, flag))
        return await perform(entry, asked, port, speech)


async def mode_of(port: Port, flag: str | None) -> str:
    """The mode by the seed's five steps; the graph is only asked when nobody has given a flag."""
    prefs, config = ({}, {}) if flag is not None else await port.settings_nodes()
    return choose_mode(flag, prefs, config, os.environ)


async def perform(entry: Entry, asked: Asked, port: Port, speech: Speech) -> int:
    """Let the port answer, and say it."""
    found: Any = getattr(import_module(entry.module), entry.function)(asked, port)
    if isinstance(found, AsyncGenerator):
        return await _each(found, speech)
    answer = await found
    # Where a file was asked for on standard output, nothing else may stand there.
    return OK if answer is None else speech.answer(answer)


async def _each(answers: AsyncGenerator[Answer, None], speech: Speech) -> int:
    async with aclosing(answers):
        async for answer in answers:
            speech.answer(answer)
    return OK
