"""How requests reach a gateway, or a store in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from typing import Any, Protocol


class Transport(Protocol):
    """Sends one document at a time."""

    def send(self, document: str, variables: Mapping[str, Any]) -> Any:
        """The body of the response. Raises `Unreachable` when none arrives, `GatewayError` when it is not GraphQL."""
        raise NotImplementedError

    def stream(self, document: str, variables: Mapping[str, Any]) -> Generator[Any, None, None]:
        """The results of a subscription. Ends when the server completes it; raises `Unreachable` when it breaks."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError


class AsyncTransport(Protocol):
    """The same, awaited."""

    async def send(self, document: str, variables: Mapping[str, Any]) -> Any:
        """The body of the response. Raises `Unreachable` when none arrives, `GatewayError` when it is not GraphQL."""
        raise NotImplementedError

    def stream(self, document: str, variables: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """The results of a subscription. Ends when the server completes it; raises `Unreachable` when it breaks."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError
