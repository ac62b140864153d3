"""What can go wrong: the gateway refuses, or nobody answers."""

from __future__ import annotations

from typing import Any


class ClientError(Exception):
    """Every error of this package."""


class Unreachable(ClientError):
    """No gateway answers at the address, or the connection broke before the answer was complete.

    A change may have been made all the same; with its idempotency key it can be sent again.
    """


class GatewayError(ClientError):
    """The first error of an answer, with the code that the gateway's page of errors explains."""

    def __init__(
        self,
        message: str,
        code: str = "UNKNOWN",
        name: str = "UnknownError",
        details: dict[str, Any] | None = None,
        retryable: bool = False,
        data: Any = None,
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.name = message, code, name
        self.details = details or {}
        self.retryable = retryable
        """Whether the same request may simply be sent again."""
        self.data = data
        """What was answered beside the error."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def error_of(answer: Any, status: int = 200) -> GatewayError | None:
    """The error in the body of a response; None without one."""
    if not isinstance(answer, dict) or not ("data" in answer or "errors" in answer):
        detail = answer.get("detail") if isinstance(answer, dict) else None
        code = answer.get("code", "UNKNOWN") if isinstance(answer, dict) else "UNKNOWN"
        return GatewayError(
            str(detail or f"status {status}, but no answer of a gateway"), code, retryable=status == 503
        )
    if not answer.get("errors"):
        return None
    first = answer["errors"][0]
    told = first.get("extensions") or {}
    return GatewayError(
        first.get("message", ""),
        told.get("code", "UNKNOWN"),
        told.get("name", "UnknownError"),
        told.get("details"),
        bool(told.get("retryable")),
        answer.get("data"),
    )
