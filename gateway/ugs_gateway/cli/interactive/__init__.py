"""The interactive mode: one open graph, one command per line, until `exit`.

A terminal has history, completion, and continuation lines while quotes or JSON are open. Input from a pipe or file has
no prompt: a script is a file of commands, one per line; an error names its line, and the next command runs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.command_runner import check_at, mode_of, parse_words, perform, run_session_command
from ugs_gateway.cli.input.target import Target, open_client, parse_at, take_target
from ugs_gateway.cli.input.tokenizer import IncompleteLine, split_line
from ugs_gateway.cli.interactive.interrupts import interrupting
from ugs_gateway.cli.main import HELP_FLAGS, check_words, get_command, parse_invocation
from ugs_gateway.cli.output.exit_codes import INTERRUPTED, OK
from ugs_gateway.cli.output.formatters import OutputActor, formatter_for
from ugs_gateway.cli.output.streams import Output, OutputClosed, UsageError, describe_error, say, write_out

COMMENT = "#"


def run_interactive(target: Target, flag: str | None) -> int:
    """Run commands until the end of input; for a script, returns the exit code of the first that failed."""
    return asyncio.run(_run(target, flag))


async def _run(target: Target, flag: str | None) -> int:
    async with open_client(target, create=True) as port:
        speech = Output(formatter_for(await mode_of(port, flag)), flag)
        dialogue = InteractiveSession(port, speech, flag)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return await dialogue.run_lines(read_piped_lines(), numbered=True)
        from ugs_gateway.cli.interactive.prompt import read_typed_lines

        await dialogue.run_lines(read_typed_lines(port, speech, target))
        return OK


async def read_piped_lines() -> AsyncIterator[str]:
    """Commands from standard input, one per line."""
    for line in sys.stdin:
        yield line.rstrip("\r\n")


def is_incomplete(text: str) -> bool:
    """Whether open quotes, JSON or a trailing backslash continue the line."""
    try:
        split_line(text)
    except IncompleteLine:
        return not text.lstrip().startswith(COMMENT)
    return False


class InteractiveSession:
    """A sequence of commands on one open graph."""

    def __init__(self, client: GraphClient, output: Output, flag: str | None) -> None:
        self.port = client
        self.speech = output
        self.flag = flag
        self.left = False
        """Whether somebody has said `exit`."""
        self.changed_voice: OutputActor | None = None
        """The voice from the next line on, where a command may have changed it."""

    async def run_lines(self, lines: AsyncIterator[str], numbered: bool = False) -> int:
        """Run the lines until one ends the session; returns the code of the first failure. With `numbered`, errors name
        lines.
        """
        first, number = OK, 0
        async for line in lines:
            number += 1
            self.speech.line = number if numbered else None
            code = await self._run_line(line)
            first = first or code
            if self.left:
                break
        return first

    async def _run_line(self, line: str) -> int:
        usual, self.speech.command = self.speech.voice, None
        try:
            words = [] if line.lstrip().startswith(COMMENT) else split_line(line)
            return await run_interruptibly(self._run_command(words)) if words else OK
        except IncompleteLine as error:
            return self.speech.failed(*describe_error(UsageError(str(error))))
        except asyncio.CancelledError:
            say("ugs: interrupted")
            return INTERRUPTED
        except OutputClosed:
            raise  # nobody hears us any more
        except Exception as error:
            return self.speech.failed(*describe_error(error))
        finally:
            if self.changed_voice is None:
                self.speech.voice = usual
            else:
                self.speech.voice, self.changed_voice = self.changed_voice, None

    async def _run_command(self, words: list[str]) -> int:
        typed = parse_invocation(words)
        check_words(typed.words)
        if typed.flag is not None:
            self.speech.voice = formatter_for(typed.flag)
        place, rest = take_target(typed.words)
        if typed.command is None:
            raise UsageError(f"{words[-1]} needs a command behind it")
        entry = get_command(typed.command)
        self.speech.command = entry.name
        if entry.usage and any(word in HELP_FLAGS for word in rest):
            write_out(self.speech.help(entry.name))
            return OK
        if entry.is_session:
            self.left = not run_session_command(entry, rest, self.speech)
            return OK
        if not entry.is_operation:
            raise UsageError(f"{entry.name} works outside of the interactive mode: ugs {entry.name} --help")
        asked = parse_words(entry, rest)
        check_at(entry, place)
        code = await perform(entry, asked, self._client_at(place), self.speech)
        # What was just stored may be the wish for another voice.
        self.changed_voice = formatter_for(await mode_of(self.port, self.flag))
        return code

    def _client_at(self, target: Target) -> GraphClient:
        """The client at the time that a line names; another graph is refused."""
        elsewhere = [name for name in target.options if name != "at"]
        if elsewhere:
            raise UsageError(f"--{elsewhere[0]} belongs where ugs is started: ugs --{elsewhere[0]} …")
        moment = parse_at(target)
        return self.port if moment is None else self.port.at_time(moment)


async def run_interruptibly(work: Coroutine[Any, Any, int]) -> int:
    """Run a command so that the interrupt key stops it without ending the session."""
    task = asyncio.ensure_future(work)
    with interrupting(task):
        return await task
