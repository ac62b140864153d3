"""What a command says: data on standard output in the chosen voice, sentences on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.exits import BUG, FAILED, INTERRUPTED, NO_ADDRESS, NO_STORE, USAGE, unwritten
from gateway.cli.speaking import HUMAN, choose_mode
from gateway.cli.voices import Coded, OutputActor, voice_of
from gateway.masking import without_secrets
from ugs.errors import InvalidSyntax, UgsError


class NotOpened(Exception):
    """The store could not be opened; the coded error is its cause."""


class Misused(Exception):
    """The words or options make no sense, whatever is in the graph."""

    code, name = InvalidSyntax.code, InvalidSyntax.name

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Bug(Exception):
    """Something that must not happen has happened."""

    code, name = "INTERNAL", "InternalError"

    def __init__(self, error: BaseException) -> None:
        self.message = f"A mistake in ugs itself: {type(error).__name__}: {error}. Please report it."
        super().__init__(self.message)


def say(sentence: str) -> None:
    """A sentence for people."""
    print(without_secrets(sentence), file=sys.stderr, flush=True)


class Unwritten(Exception):
    """Standard output takes nothing more."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


@contextmanager
def standard_output() -> Iterator[None]:
    """Around whatever writes there."""
    try:
        yield
    except OSError as error:
        raise Unwritten(error) from error


def put_out(text: str, end: str = "\n") -> None:
    """A text on standard output, at once."""
    with standard_output():
        print(text, end=end, flush=True)


class Speech:
    """One voice, and where it speaks."""

    def __init__(self, voice: OutputActor) -> None:
        self.voice = voice
        """Where an answer may be kept for the next time it is asked for."""
        self.data = True
        """Whether the command answers data at all; some only ever say sentences."""

    @classmethod
    def without_graph(cls, flag: str | None) -> Speech:
        """The voice as far as it can be chosen without asking a graph."""
        return cls(voice_of(choose_mode(flag, {}, {}, os.environ)))

    def answer(self, answer: Answer) -> int:
        """Say an answer; its warnings are for whoever watches."""
        for warning in answer.warnings:
            say(f"warning: {warning['code']} {warning['message']}")
        put_out(self.voice.format_answer(answer))
        return answer.code

    def put(self, value: Any) -> None:
        """Say a value that went well."""
        self.answer(Answer("success", value))

    def failed(self, error: Coded, code: int) -> int:
        """Say what went wrong. A program finds it where it looks for data; a person gets a sentence."""
        if self.voice.mode == HUMAN:
            say(self.voice.format_error(error))
            return code
        if not (self.data and sys.stdout.isatty()):
            say(f"ugs: {error.code} {error.name}: {error.message}")
        if self.data:
            put_out(without_secrets(self.voice.format_error(error)))
        return code


def in_words(work: Callable[[], int], speech: Speech) -> int:
    """Do a work; whatever goes wrong becomes words and an exit code."""
    try:
        return work()
    except KeyboardInterrupt:
        say("ugs: interrupted")
        return INTERRUPTED
    except Unwritten as error:
        return unwritten(error.reason)
    except Exception as error:
        what, code = told(error)
        if code == BUG and (sys.flags.dev_mode or not speech.data):
            # A server's log, and a developer (python -X dev), want to know where.
            sys.excepthook(type(error), error, error.__traceback__)
        return speech.failed(what, code)


def told(error: Exception) -> tuple[Coded, int]:
    """An exception as what can be said of it, and the exit code."""
    if isinstance(error, NotOpened) and isinstance(error.__cause__, UgsError):
        return error.__cause__, NO_STORE
    if isinstance(error, Misused):
        return error, USAGE
    if isinstance(error, UgsError):
        return error, NO_ADDRESS if error.code == "CANNOT_LISTEN" else FAILED
    from gateway.cli.ports.http import Refused, Unreachable

    if isinstance(error, Unreachable):
        return error, NO_STORE
    return (error, FAILED) if isinstance(error, Refused) else (Bug(error), BUG)
