"""Translates the driver's exceptions to errors of the kernel, with the original as their cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DatabaseUnavailable,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from ugs.errors import (
    Conflict,
    DeadlineExceeded,
    LimitExceeded,
    OutcomeUnknown,
    StorageIOError,
    UgsError,
    Unavailable,
    UniqueViolation,
)

LOST_CONNECTION_ERRORS = (ServiceUnavailable, SessionExpired, OSError)
"""The connection was lost or could not be established."""
RULE = re.compile(r"with label `(\w+)` and propert(?:y|ies) (.+)", re.DOTALL)
PROPERTY = re.compile(r"`(\w+)`(?: =|,|$| and)")


@contextmanager
def translate_errors(where: str, rules: Mapping[tuple[str, str], str]) -> Iterator[None]:
    """Translate the driver's errors; `rules` names uniqueness constraints by label and property."""
    try:
        yield
    except (Neo4jError, DriverError, OSError) as error:
        ours = to_kernel_error(error, where, rules)
        if ours is None:
            raise
        raise ours from error


@contextmanager
def translate_commit_errors(where: str) -> Iterator[None]:
    """Translate a lost connection during a commit to `OutcomeUnknown`."""
    try:
        yield
    except (*LOST_CONNECTION_ERRORS, DeadlineExceeded, Unavailable) as error:
        raise OutcomeUnknown(
            f"The connection to Neo4j at {where} broke during a commit, so the change may or may not be stored. "
            "Read it again, or send it again with the same idempotency key."
        ) from error


def to_kernel_error(error: Exception, where: str, rules: Mapping[tuple[str, str], str]) -> UgsError | None:
    """The kernel error for a driver error; None for what can only be a bug in this package."""
    if isinstance(error, ConstraintError):
        return UniqueViolation(find_violated_rule(str(error.message), rules))
    if isinstance(error, AuthError):
        return Unavailable(f"Neo4j at {where} refused the user or the password. Check them in the store URL.")
    if isinstance(error, (*LOST_CONNECTION_ERRORS, DatabaseUnavailable)):
        return Unavailable(f"Neo4j at {where} cannot be reached. Check that it runs and that the store URL is right.")
    if isinstance(error, ConfigurationError):
        return Unavailable(f"Neo4j at {where} cannot be used as asked: {error}")
    return _error_by_code(error, where) if isinstance(error, Neo4jError) else None


def _error_by_code(error: Neo4jError, where: str) -> UgsError | None:
    code = error.code or ""
    if "TransactionTimedOut" in code or code.endswith("Transaction.Terminated"):
        return DeadlineExceeded(f"Neo4j at {where} stopped the call because it took too long.")
    if "OutOfMemory" in code or "TransactionOutOfMemory" in code:
        return LimitExceeded(f"Neo4j at {where} has too little memory for this change. Send less at once.")
    if "too large to index" in (error.message or ""):
        return LimitExceeded(f"Neo4j at {where} cannot index a text of more than about 8,000 bytes. Use a shorter one.")
    if "DatabaseNotFound" in code:
        return Unavailable(f"Neo4j has no such database: {where}. Create it, or name another in the store URL.")
    if isinstance(error, TransientError) or code.endswith("AlreadyExists"):
        return Conflict(f"Neo4j at {where} could not do this beside other work. Send it again.")
    return None if isinstance(error, ClientError) else StorageIOError(f"Neo4j at {where} failed: {error.message}")


def find_violated_rule(message: str, rules: Mapping[tuple[str, str], str]) -> str:
    """The name of the uniqueness constraint in an error message."""
    found = RULE.search(message)
    if found is None:
        return "unknown"
    return rules.get((found[1], "+".join(PROPERTY.findall(found[2]))), found[0])
