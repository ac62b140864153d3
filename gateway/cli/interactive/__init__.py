"""The interactive mode: one open graph, one command a line, until `exit`.

On a terminal with history and completion; from a pipe or a file without any prompt, so that a script is just a file of
commands.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from gateway.cli.commands import find_command
from gateway.cli.exits import INTERRUPTED, OK, USAGE
from gateway.cli.interactive.interrupting import interrupting
from gateway.cli.lines import Unfinished, split_line
from gateway.cli.main import check_words, unknown_command
from gateway.cli.outcome import Misused, Speech, Unwritten, put_out, say, told
from gateway.cli.places import Place, opened_port
from gateway.cli.ports import Port
from gateway.cli.running import mode_of, perform, understood
from gateway.cli.voices import voice_of

LEAVING = ("exit", "quit")
COMMENT = "#"


def run_interactive(place: Place, flag: str | None) -> int:
    """Take commands until the end; answers the exit code of the first that failed, from a script."""
    return asyncio.run(_run(place, flag))


async def _run(place: Place, flag: str | None) -> int:
    async with opened_port(place) as port:
        speech = Speech(voice_of(await mode_of(port, flag)))
        dialogue = Dialogue(port, speech, flag)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return await dialogue.follow(piped_lines())
        from gateway.cli.interactive.prompting import typed_lines

        await dialogue.follow(typed_lines(port, speech, place))
        return OK


async def piped_lines() -> AsyncIterator[str]:
    """Commands from standard input; one that is not finished goes on in the next line."""
    text = ""
    for line in sys.stdin:
        text += line
        if not is_unfinished(text):
            yield text
            text = ""
    if text.strip():
        yield text


def is_unfinished(text: str) -> bool:
    """Whether quotes, JSON or a backslash want more lines."""
    try:
        split_line(text)
    except Unfinished:
        return not text.lstrip().startswith(COMMENT)
    return False


class Dialogue:
    """Commands on one open graph, one after the other."""

    def __init__(self, port: Port, speech: Speech, flag: str | None) -> None:
        self.port = port
        self.speech = speech
        self.flag = flag

    async def follow(self, lines: AsyncIterator[str]) -> int:
        """Do what the lines say, until one wants to leave; the code of the first failure."""
        first = OK
        async for line in lines:
            if line.strip() in LEAVING:
                break
            code = await self._do(line)
            first = first or code
        return first

    async def _do(self, line: str) -> int:
        try:
            words = [] if line.lstrip().startswith(COMMENT) else split_line(line)
            return await interruptible(self._command(words)) if words else OK
        except Unfinished as error:
            return self.speech.failed(Misused(str(error)), USAGE)
        except asyncio.CancelledError:
            say("ugs: interrupted")
            return INTERRUPTED
        except Unwritten:
            raise  # nobody hears us any more
        except Exception as error:
            return self.speech.failed(*told(error))

    async def _command(self, words: list[str]) -> int:
        name, *rest = words
        check_words(rest)
        if name == "help":
            put_out(self.speech.voice.format_help(rest[0] if rest else ""))
            return OK
        entry = find_command(name)
        if entry is None:
            raise unknown_command(name)
        if not entry.is_operation:
            raise Misused(f"{name} works outside of the interactive mode: ugs {name} --help")
        code = await perform(entry, understood(entry, rest), self.port, self.speech)
        # What was just stored may be the wish for another voice.
        self.speech.voice = voice_of(await mode_of(self.port, self.flag))
        return code


async def interruptible(work: Coroutine[Any, Any, int]) -> int:
    """A work that the interrupt key stops, without ending the dialogue."""
    task = asyncio.ensure_future(work)
    with interrupting(task):
        return await task
