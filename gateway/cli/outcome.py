"""What a command says at its end: data as compact JSON on standard output, sentences on standard error."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import msgspec

from gateway.cli.main import FAILED, INTERRUPTED, NO_ADDRESS, NO_STORE, USAGE
from gateway.logs import without_secrets
from ugs.errors import UgsError


class NotOpened(Exception):
    """The store could not be opened; the coded error is its cause."""


class Misused(Exception):
    """The options make no sense."""


def put(value: Any) -> None:
    """Data for programs: one compact JSON value on a line."""
    print(msgspec.json.encode(value, enc_hook=str).decode(), flush=True)


def say(sentence: str) -> None:
    """A sentence for people."""
    print(without_secrets(sentence), file=sys.stderr, flush=True)


def in_words(run: Callable[[Namespace], int], options: Namespace, data: bool = True) -> int:
    """Run a command; whatever goes wrong becomes one line and an exit code.

    A command that puts data also puts its error there, for the program that reads it.
    """
    try:
        return run(options)
    except Misused as error:
        say(f"ugs: {error}")
        return USAGE
    except NotOpened as error:
        return _failed(error.__cause__ or error, NO_STORE, data)
    except UgsError as error:
        return _failed(error, NO_ADDRESS if error.code == "CANNOT_LISTEN" else FAILED, data)
    except KeyboardInterrupt:
        say("ugs: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to tell.
        sys.stderr.close()
        return FAILED


def _failed(error: BaseException, code: int, data: bool) -> int:
    if isinstance(error, UgsError):
        say(f"ugs: {error.code} {error.name}: {error.message}")
        if data and not sys.stdout.isatty():
            put({"error": {"code": error.code, "name": error.name, "message": without_secrets(error.message)}})
    else:
        say(f"ugs: {error}")
    return code
