"""A typed client for UGS Gateway, with asyncio (`AsyncClient`) and without (`Client`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ugs_client.client import Client
from ugs_client.errors import ClientError, GatewayError, Unreachable
from ugs_client.retries import NO_RETRIES, Retries

if TYPE_CHECKING:
    from ugs_client.async_client import AsyncClient

__all__ = ["NO_RETRIES", "AsyncClient", "Client", "ClientError", "GatewayError", "Retries", "Unreachable"]


def __getattr__(name: str) -> Any:
    """`AsyncClient` is loaded by its first use: asyncio takes longer to load than all the rest."""
    if name == "AsyncClient":
        from ugs_client.async_client import AsyncClient

        return AsyncClient
    raise AttributeError(name)
