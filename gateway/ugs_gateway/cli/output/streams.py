"""Output of a command: data on standard output in the chosen format, messages on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ugs.errors import InvalidJSON, InvalidSyntax, UgsError
from ugs_gateway.cli.output.exit_codes import (
    BUG,
    FAILED,
    INTERRUPTED,
    NO_ADDRESS,
    NO_STORE,
    USAGE,
    report_closed_output,
)
from ugs_gateway.cli.output.formatters import Coded, Failure, OutputActor, formatter_for
from ugs_gateway.cli.output.mode import AGENT, HUMAN, choose_mode
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.observability.redaction import without_secrets

USAGE_ERROR_CODES = frozenset({InvalidSyntax.code, InvalidJSON.code})
"""Codes of errors in the arguments of a command."""


class NotOpened(Exception):
    """The store could not be opened; the coded error is its cause."""


class RedactedError:
    """An error for display: passwords of URLs in its message are masked."""

    def __init__(self, error: Coded, url: str = "") -> None:
        self.code, self.name, self.message = error.code, error.name, without_secrets(error.message, url)
        self.details: dict[str, Any] = getattr(error, "details", None) or {}
        self.hint: str | None = getattr(error, "hint", None)


class UsageError(Exception):
    """The arguments are invalid, independently of the graph."""

    code, name = InvalidSyntax.code, InvalidSyntax.name

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadContent(Exception):
    """A file does not contain what it should: the command was valid, and failed."""

    def __init__(self, error: UgsError) -> None:
        super().__init__(error.message)
        self.code, self.name, self.message = error.code, error.name, error.message


class Bug(Exception):
    """An internal error."""

    code, name = "INTERNAL", "InternalError"

    def __init__(self, error: BaseException) -> None:
        self.message = f"A mistake in ugs itself: {type(error).__name__}: {error}. Please report it."
        super().__init__(self.message)


def say(sentence: str) -> None:
    """Print a message for people to standard error."""
    print(without_secrets(sentence), file=sys.stderr, flush=True)


class OutputClosed(Exception):
    """Standard output is closed."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


@contextmanager
def standard_output() -> Iterator[None]:
    """Turns errors of writing to standard output into `OutputClosed`."""
    try:
        yield
    except OSError as error:
        raise OutputClosed(error) from error


def write_out(text: str, end: str = "\n") -> None:
    """Write text to standard output, and flush."""
    with standard_output():
        print(text, end=end, flush=True)


class Output:
    """One formatter, and where it writes."""

    def __init__(self, voice: OutputActor, flag: str | None = None) -> None:
        self.voice = voice
        self.asked_for_json = flag == AGENT
        """Whether the flag `--agent` asks for JSON, also where a person would read help and errors."""
        self.command: str | None = None
        """The command that is being done."""
        self.line: int | None = None
        """The line of a script that is being done."""
        self.data = True
        """Whether the command answers data at all; some only ever say sentences."""

    @classmethod
    def without_graph(cls, flag: str | None) -> Output:
        """The output mode as far as it can be chosen without reading a graph."""
        return cls(formatter_for(choose_mode(flag, {}, {}, os.environ)), flag)

    def answer(self, answer: Answer) -> int:
        """Print a result; its warnings go to standard error."""
        for warning in answer.warnings:
            say(f"warning: {warning['code']} {warning['message']}")
        write_out(self.voice.format_answer(answer))
        return answer.code

    def put(self, value: Any) -> None:
        """Print a successful value."""
        self.answer(Answer("success", value))

    def failed(self, error: Coded, code: int) -> int:
        """Print an error once: as JSON where a program reads data, as a sentence where a person reads.

        If standard output is a file or a pipe, the JSON goes there and a sentence to standard error. At a terminal only
        the sentence is printed, or only the JSON with `--agent`.
        """
        from ugs_gateway.cli.output.hints import hint_for

        masked, hint = RedactedError(error), hint_for(error, self.command)
        told = Failure(masked.code, masked.name, masked.message, self.line, hint and without_secrets(hint))
        at_terminal = self.data and sys.stdout.isatty()
        if self.voice.mode == HUMAN or (at_terminal and not self.asked_for_json):
            say(formatter_for(HUMAN).format_error(told))
            return code
        if at_terminal:
            write_out(self.voice.format_error(told))
            return code
        where = "" if self.line is None else f"line {self.line}: "
        say(f"ugs: {where}{told.code} {told.name}: {told.message}" + (f" ({told.hint})" if told.hint else ""))
        if self.data:
            write_out(self.voice.format_error(told))
        return code

    def help(self, topic: str) -> str:
        """A page of help: for people at a terminal, whatever the format of the data is, unless `--agent` is given."""
        is_for_people = sys.stdout.isatty() and not self.asked_for_json
        return (formatter_for(HUMAN) if is_for_people else self.voice).format_help(topic)


def run_reporting_errors(work: Callable[[], int], output: Output) -> int:
    """Run a function; any exception becomes a message and an exit code."""
    try:
        return work()
    except KeyboardInterrupt:
        say("ugs: interrupted")
        return INTERRUPTED
    except OutputClosed as error:
        return report_closed_output(error.reason)
    except Exception as error:
        what, code = describe_error(error)
        if code == BUG and (sys.flags.dev_mode or not output.data):
            # A server's log, and a developer (python -X dev), want to know where.
            sys.excepthook(type(error), error, error.__traceback__)
        return output.failed(what, code)


def describe_error(error: Exception) -> tuple[Coded, int]:
    """The coded error that describes an exception, and its exit code."""
    if isinstance(error, NotOpened) and isinstance(error.__cause__, UgsError):
        return RedactedError(error.__cause__, str(error)), NO_STORE
    if isinstance(error, UsageError):
        return error, USAGE
    if isinstance(error, BadContent):
        return error, FAILED
    if isinstance(error, UgsError):
        return error, NO_ADDRESS if error.code == "CANNOT_LISTEN" else _code_of(error)
    from ugs_gateway.cli.clients.http import GatewayError, Unreachable

    if isinstance(error, Unreachable):
        return error, NO_STORE
    return (error, _code_of(error)) if isinstance(error, GatewayError) else (Bug(error), BUG)


def _code_of(error: Coded) -> int:
    """The exit code of an error; a malformed command is a usage error whoever has detected it."""
    return USAGE if error.code in USAGE_ERROR_CODES else FAILED
