"""All coded errors as one class hierarchy: one class per situation, with a stable code and a readable message.

Codes are part of the public interface. The same object becomes the GraphQL `extensions.code`, the MCP error and the
command line's message, so a message names the object at fault and `details` carries its parameters as data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar


class UgsError(Exception):
    """Base of all errors that are shown to the caller in full; any other exception is a bug and is masked."""

    code: ClassVar[str] = "UGS"
    name: ClassVar[str] = "UgsError"
    summary: ClassVar[str] = "Something went wrong"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __init_subclass__(cls) -> None:
        # One name per code: a subclass without a code of its own keeps the name of its parent's code.
        if "code" in cls.__dict__ and "name" not in cls.__dict__:
            cls.name = cls.__name__

    def as_json(self) -> dict[str, object]:
        """The error as JSON, the same in every interface."""
        return {
            "code": self.code,
            "name": self.name,
            "message": self.message,
            "details": self.details,
            "retryable": self.retryable,
        }


class NodeExists(UgsError):
    """The id is already taken by a node."""

    code = "E001"
    summary = "Node with ID already exists"

    def __init__(self, id: str) -> None:
        super().__init__(f"Node with ID already exists: {id}. Choose another id or update the node.", id=id)


class NodeNotFound(UgsError):
    """No element has the id."""

    code = "E002"
    summary = "Node with ID not found"

    def __init__(self, id: str) -> None:
        super().__init__(f"Node with ID not found: {id}", id=id)


class EdgeExists(UgsError):
    """The id is already taken by an edge."""

    code = "E003"
    summary = "Edge with ID already exists"

    def __init__(self, id: str) -> None:
        super().__init__(f"Edge with ID already exists: {id}. Choose another id or update the edge.", id=id)


class EdgeNotFound(UgsError):
    """No edge has the id."""

    code = "E004"
    summary = "Edge with ID not found"

    def __init__(self, id: str) -> None:
        super().__init__(f"Edge with ID not found: {id}", id=id)


class InvalidSyntax(UgsError):
    """A command, id, key, number or option is not well formed."""

    code = "E005"
    summary = "Command syntax error"


class InvalidJSON(UgsError):
    """A value is not JSON, or is JSON that no store could keep without changing it."""

    code = "E006"
    summary = "JSON parsing error"


class StorageIOError(UgsError):
    """An operation of the file system or the database failed."""

    code = "E007"
    name = "IOError"
    summary = "File system error"


class Unavailable(StorageIOError):
    """The store cannot be reached now; nothing was changed."""

    code = "UNAVAILABLE"
    summary = "The store cannot be reached"
    retryable = True


class OutcomeUnknown(StorageIOError):
    """The connection broke while a change was being committed: it may or may not have happened."""

    code = "OUTCOME_UNKNOWN"
    summary = "A change may or may not have been stored"
    retryable = True


class StoreLocked(StorageIOError):
    """Another process holds the data folder."""

    code = "STORE_LOCKED"
    summary = "The data folder is in use by another process"


class SnapshotCorrupt(UgsError):
    """The snapshot cannot be trusted and the log cannot replace it."""

    code = "E008"
    summary = "Snapshot file corrupted"


class WALCorrupt(UgsError):
    """The event log is damaged at a known place."""

    code = "E009"
    summary = "WAL file corrupted"


class VersionConflict(UgsError):
    """The element has changed since the caller read it (optimistic concurrency)."""

    code = "VERSION_CONFLICT"
    summary = "The element has another version than expected"

    def __init__(self, id: str, expected: int, current: int | None, element: object = None) -> None:
        found = "it does not exist" if current is None else f"it is at version {current}"
        super().__init__(
            f"{id} was expected at version {expected}, but {found}. Read it again and retry.",
            id=id,
            expected=expected,
            current=current,
            element=element,
        )


class IdempotencyConflict(UgsError):
    """The key was used before for a different request."""

    code = "IDEMPOTENCY_CONFLICT"
    summary = "The idempotency key belongs to another request"

    def __init__(self, key: str) -> None:
        super().__init__(f"Idempotency key {key!r} was already used for a different request.", key=key)


class EndpointMissing(UgsError):
    """A strict edge needs both of its nodes."""

    code = "ENDPOINT_MISSING"
    summary = "An edge endpoint does not exist"

    def __init__(self, id: str, missing: list[str]) -> None:
        super().__init__(f"Edge {id} needs nodes that do not exist: {', '.join(missing)}", id=id, missing=missing)


class NegativeCycle(UgsError):
    """A cycle of negative cost is reachable, so there is no cheapest path."""

    code = "NEGATIVE_CYCLE"
    summary = "A cycle of negative total weight is reachable"


class LimitExceeded(UgsError):
    """The request is larger than this system allows."""

    code = "LIMIT_EXCEEDED"
    summary = "A limit of the system was exceeded"


class AnswerTooLarge(UgsError):
    """The answer exceeds the byte limit of responses; rendering was aborted."""

    code = "ANSWER_TOO_LARGE"
    summary = "The answer would be larger than allowed"


class VersionNotFound(UgsError):
    """The element never had that version."""

    code = "VERSION_NOT_FOUND"
    summary = "The element has no such version"

    def __init__(self, id: str, version: int) -> None:
        super().__init__(f"{id} has no version {version}", id=id, version=version)


class PositionNotFound(UgsError):
    """The requested position or instant is outside the log."""

    code = "POSITION_NOT_FOUND"
    summary = "The log has no such position"


class UndoConflict(UgsError):
    """Later events changed what an undo would reverse, or the selection has events that cannot be undone."""

    code = "UNDO_CONFLICT"
    summary = "Something else changed since"


class HistoryGone(UgsError):
    """The log no longer holds the early events that a replay needs."""

    code = "HISTORY_GONE"
    summary = "The beginning of the log is gone"

    def __init__(self, wanted: int, first: int | None) -> None:
        begins = "has no events" if first is None else f"begins at event {first}"
        super().__init__(
            f"The log {begins}, but event {wanted} is needed: the history before the snapshot is gone. The state of "
            "now is whole; its past, a proof by replay and a copy need the lost events.",
            wanted=wanted,
            first=first,
        )


class KeyNotFound(UgsError):
    """No API key visible to the caller has the id."""

    code = "KEY_NOT_FOUND"
    summary = "There is no such API key"

    def __init__(self, id: str) -> None:
        super().__init__(f"API key not found: {id[:80]}", id=id[:80])


class WebhookNotFound(UgsError):
    """No webhook visible to the caller has the id."""

    code = "WEBHOOK_NOT_FOUND"
    summary = "There is no such webhook"

    def __init__(self, id: str) -> None:
        super().__init__(f"Webhook not found: {id[:80]}", id=id[:80])


class UnknownStore(UgsError):
    """No installed backend handles the URL's scheme."""

    code = "UNKNOWN_STORE"
    summary = "No backend answers to the store URL"


class SchemaMismatch(UgsError):
    """The store was written by a newer or an incompatible version."""

    code = "SCHEMA_MISMATCH"
    summary = "The store has a schema this version cannot use"


class Conflict(UgsError):
    """Concurrent writers conflicted and nothing was stored; the request may be retried unchanged."""

    code = "CONFLICT"
    summary = "Two changes met"
    retryable = True

    at_once = False
    """Whether a retry is useful immediately, without a pause."""


class UniqueViolation(UgsError):
    """A uniqueness rule of the catalog refused the change."""

    code = "UNIQUE_VIOLATION"
    summary = "A uniqueness rule was violated"

    def __init__(self, rule: str) -> None:
        super().__init__(f"Another record already satisfies the unique rule {rule}", rule=rule)


class DeadlineExceeded(UgsError):
    """The work took longer than its deadline and was stopped."""

    code = "TIMEOUT"
    summary = "The deadline passed"
    retryable = True


class Unauthenticated(UgsError):
    """The request is not authenticated."""

    code = "UNAUTHENTICATED"
    summary = "The request names nobody we know"


class Forbidden(UgsError):
    """The principal lacks the permission for this operation."""

    code = "FORBIDDEN"
    summary = "The caller may not do this"


class DigestMismatch(UgsError):
    """Two states that must be equal are not."""

    code = "DIGEST_MISMATCH"
    summary = "The state differs from what the log says"


def all_errors(root: type[UgsError] = UgsError) -> Iterator[type[UgsError]]:
    """Every class of the tree, so that documentation can be checked against it."""
    for child in root.__subclasses__():
        yield child
        yield from all_errors(child)


class InvalidEncoding(UgsError):
    """The encoding is missing, unknown, or not what the content is written in."""

    code = "INVALID_ENCODING"
    summary = "Content needs an encoding that fits it"


class InvalidArgument(UgsError):
    """An argument is missing or not well formed."""

    code = "INVALID_ARGUMENT"
    summary = "An argument is missing or not well formed"
