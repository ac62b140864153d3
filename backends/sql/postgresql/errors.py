"""PostgreSQL's errors in our words, which never repeat a password."""

from __future__ import annotations

import asyncpg

from ugs.errors import (
    Conflict,
    DeadlineExceeded,
    OutcomeUnknown,
    StorageIOError,
    UgsError,
    Unavailable,
    UniqueViolation,
)

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
"""Everything the driver raises for what happens outside this program."""

_UNIQUE = "23505"
_TIMED_OUT = "57014"
PRESUMED = "UG001"
"""Somebody has an id that was presumed to be free."""
_CONFLICTS = {
    "40001": "Two transactions met",
    "40P01": "Two transactions waited for each other",
    "55P03": "Another gateway has been writing to {where} for several seconds",
}
_LOST = ("08", "57P0", "53300")
# A connection that breaks between two messages leaves the driver in a state of its own that it calls internal.
_BROKEN = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_FULL = ("53100", "53200")


def translated(error: BaseException, where: str, *, committing: bool = False) -> UgsError:
    """What went wrong with this database, and what a person can do about it."""
    state = getattr(error, "sqlstate", None) or ""
    if state == _UNIQUE:
        return UniqueViolation(getattr(error, "constraint_name", None) or "")
    if state in _CONFLICTS:
        return Conflict(f"{_CONFLICTS[state].format(where=where)}. Try again.", reason=str(error))
    if state == PRESUMED:
        return presumed_wrongly()
    if state == _TIMED_OUT:
        return DeadlineExceeded(f"{where} took too long and stopped the statement.", reason=str(error))
    if is_lost(error):
        return _lost(error, where, committing)
    return _other(error, where, state)


def presumed_wrongly() -> Conflict:
    """Nobody else is in the way: it has to be decided again, knowing what is there."""
    conflict = Conflict("An id that was presumed to be free is taken. Try again.")
    conflict.at_once = True
    return conflict


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone."""
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, ValueError):  # a value the driver could not send; the connection is as before
        return False
    return state.startswith(_LOST) or isinstance(error, _BROKEN)


def _lost(error: BaseException, where: str, committing: bool) -> UgsError:
    if committing:
        return OutcomeUnknown(
            f"The connection to {where} broke while a change was being committed: it may or may not be stored. "
            "Read before trying again, or retry with the same idempotency key.",
            reason=str(error),
        )
    return Unavailable(
        f"{where} cannot be reached. Nothing was changed. Check that the server runs and try again.", reason=str(error)
    )


def _other(error: BaseException, where: str, state: str) -> UgsError:
    if state in _FULL:
        text = f"{where} has no space left. Nothing was changed. Free some space and try again."
    elif state == "25006":
        text = f"{where} is read-only. Nothing was changed. Use the primary server."
    elif state.startswith("28"):
        text = f"{where} refused the user or password. Check the URL of the store."
    elif state == "3D000":
        text = f"{where} does not exist on that server. Create the database first."
    elif state == "42501":
        text = f"The user may not do that in {where}. Grant CREATE on the database, or the rights on the schema."
    elif state.startswith("XX"):
        text = f"{where} is damaged. Stop writing to it and restore a backup."
    else:
        text = f"{where} could not do what it was asked: {error}"
    return StorageIOError(text, reason=str(error), sqlstate=state)
