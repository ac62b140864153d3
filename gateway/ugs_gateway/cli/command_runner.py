"""Runs an operation: parses its arguments, calls it with a client, and prints the result."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from importlib import import_module
from typing import Any

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.command_table import NOW_ONLY, Entry
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_arguments, parse_usage
from ugs_gateway.cli.input.target import Target, open_client
from ugs_gateway.cli.output.exit_codes import OK
from ugs_gateway.cli.output.formatters import formatter_for
from ugs_gateway.cli.output.mode import choose_mode
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import Output, UsageError

CREATING = frozenset({"add-node", "add-edge", "load-demo", "import", "ingest", "restore"})
READING_FILES = frozenset({"import", "ingest", "restore"})
CREATING_ACTIONS = frozenset({("key", "add"), ("webhook", "add"), ("program", "save")})


def creates_store(entry: Entry, arguments: ParsedArguments) -> bool:
    """Whether a command may create the store it works on; reads and changes of existing elements never do."""
    return entry.name in CREATING or (entry.name, arguments.words.get("action")) in CREATING_ACTIONS


def parse_words(entry: Entry, words: Sequence[str]) -> ParsedArguments:
    """The parsed arguments of a command."""
    try:
        return parse_arguments(parse_usage(entry.usage), words)
    except InvalidSyntax as error:
        raise UsageError(error.message) from error


def check_at(entry: Entry, target: Target) -> None:
    """Refuse `--at` for commands that change something or report on the whole history."""
    if "at" in target.options and entry.name in NOW_ONLY:
        raise UsageError(f"--at means nothing to {entry.name}")


def check_input_file(entry: Entry, arguments: ParsedArguments) -> None:
    """Refuse a file that cannot be read before a store is created for what it holds."""
    if entry.name in READING_FILES:
        from ugs.exchange import format_for
        from ugs_gateway.cli.operations.import_file import open_bytes
        from ugs_gateway.cli.operations.queries import STANDARD_INPUT

        file = arguments.words["file"]
        if entry.name == "import" and "format" not in arguments.options:
            format_for(file)
        if entry.name == "ingest" and arguments.options.get("format") == "graphiti":
            from ugs_gateway.cli.input.graphiti_server import check_server, is_server, parse_source

            if is_server(file):
                check_server(parse_source(file))
                return
        may_be_folder = entry.name == "ingest" and "format" in arguments.options
        if file != STANDARD_INPUT and not (may_be_folder and os.path.isdir(file)):
            with open_bytes(file):
                pass


def run_session_command(entry: Entry, words: Sequence[str], output: Output) -> bool:
    """Run `help`, `exit` or `quit`; returns whether the session continues."""
    goes_on: bool = getattr(import_module(entry.module), entry.function)(parse_words(entry, words), output)
    return goes_on


def run_operation(entry: Entry, words: Sequence[str], target: Target, flag: str | None, output: Output) -> int:
    """Run one operation on the target; returns the exit code."""
    output.command = entry.name
    asked = parse_words(entry, words)
    check_at(entry, target)
    return asyncio.run(_run(entry, asked, target, flag, output))


async def _run(entry: Entry, arguments: ParsedArguments, target: Target, flag: str | None, output: Output) -> int:
    check_input_file(entry, arguments)
    async with open_client(target, creates_store(entry, arguments)) as port:
        output.voice = formatter_for(await mode_of(port, flag))
        return await perform(entry, arguments, port, output)


async def mode_of(client: GraphClient, flag: str | None) -> str:
    """The output mode by the seed's five steps; the graph is read only if no flag is given."""
    prefs, config = ({}, {}) if flag is not None else await client.settings_nodes()
    return choose_mode(flag, prefs, config, os.environ)


async def perform(entry: Entry, arguments: ParsedArguments, client: GraphClient, output: Output) -> int:
    """Execute the operation and print its result."""
    output.command = entry.name
    found: Any = getattr(import_module(entry.module), entry.function)(arguments, client)
    if isinstance(found, AsyncGenerator):
        return await _each(found, output)
    try:
        answer = await found
    except Exception as error:
        await suggest_near_id(error, client)
        raise
    # Where a file was asked for on standard output, nothing else may stand there.
    return OK if answer is None else output.answer(answer)


async def suggest_near_id(error: Exception, client: GraphClient) -> None:
    """Suggest a similar id if the error is an unknown id; errors of the store are ignored here."""
    id = (getattr(error, "details", None) or {}).get("id")
    if getattr(error, "code", None) not in ("E002", "E004") or not isinstance(id, str):
        return
    from ugs_gateway.cli.output.near_ids import find_near_id

    with suppress(Exception):
        close = await find_near_id(id, client)
        if close is not None:
            error.hint = f"Did you mean {close}?"  # type: ignore[attr-defined]


async def _each(answers: AsyncGenerator[Answer, None], output: Output) -> int:
    """Print the results of a streaming operation one by one."""
    async with aclosing(answers):
        async for answer in answers:
            output.answer(answer)
    return OK
