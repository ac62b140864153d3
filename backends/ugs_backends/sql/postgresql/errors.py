"""Translates errors of PostgreSQL to errors of the kernel; messages never contain a password."""

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
"""The driver's exceptions for failures outside this program."""

_UNIQUE = "23505"
_QUERY_CANCELED = "57014"
WRONG_ASSUMPTION = "UG001"
"""SQLSTATE raised by `events_append` when an id that was assumed free is taken."""
_CONFLICTS = {
    "40001": "Two transactions met",
    "40P01": "Two transactions waited for each other",
    "55P03": "Another gateway has been writing to {where} for several seconds",
}
_LOST = ("08", "57P0", "53300")
# When a connection breaks between two messages, the driver may raise InternalClientError.
_BROKEN = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_FULL = ("53100", "53200")
_NO_TLS = "rejected SSL upgrade"
"""The driver has no error of its own for it."""


def translate_error(error: BaseException, where: str, *, committing: bool = False) -> UgsError:
    """The kernel error for a driver error, with a message that tells the operator what to do."""
    state = getattr(error, "sqlstate", None) or ""
    if state == _UNIQUE:
        return UniqueViolation(getattr(error, "constraint_name", None) or "")
    if state in _CONFLICTS:
        return Conflict(f"{_CONFLICTS[state].format(where=where)}. Try again.", reason=str(error))
    if state == WRONG_ASSUMPTION:
        return build_assumption_conflict()
    if state == _QUERY_CANCELED:
        return DeadlineExceeded(f"{where} took too long and stopped the statement.", reason=str(error))
    if is_lost(error):
        return _build_lost_error(error, where, committing)
    return _build_other_error(error, where, state)


def build_assumption_conflict() -> Conflict:
    """The conflict for an id that was wrongly assumed free: retry immediately, with look-ups."""
    conflict = Conflict("An id that was presumed to be free is taken. Try again.")
    conflict.at_once = True
    return conflict


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone."""
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, ValueError):  # a value that the driver could not encode; the connection is intact
        return False
    return state.startswith(_LOST) or isinstance(error, _BROKEN)


def _build_lost_error(error: BaseException, where: str, committing: bool) -> UgsError:
    if committing:
        return OutcomeUnknown(
            f"The connection to {where} broke while a change was being committed: it may or may not be stored. "
            "Read before trying again, or retry with the same idempotency key.",
            reason=str(error),
        )
    if _NO_TLS in str(error):
        return Unavailable(
            f"{where} offers no TLS, which the URL of the store asks for. Nothing was changed. "
            "Switch it on at the server, or set sslmode=disable where nobody else can listen.",
            reason=str(error),
        )
    return Unavailable(
        f"{where} cannot be reached. Nothing was changed. Check that the server runs and try again.", reason=str(error)
    )


def _build_other_error(error: BaseException, where: str, state: str) -> UgsError:
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
