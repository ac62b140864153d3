"""The request context of resolvers: the system, and the graph with the caller's rights."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import inf
from typing import TYPE_CHECKING, Any

import strawberry
from msgspec import Struct

from ugs.graph.api import Graph
from ugs.identity import LOCAL, Principal
from ugs.keys.api import Keyring
from ugs.log.log_reader import LogReader
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.system import System
from ugs.webhooks.model import Webhook
from ugs.webhooks.registry import WebhookRegistry

if TYPE_CHECKING:
    from ugs_schema.viewer import GatewayReport


class RequestContext(Struct, frozen=True):
    """The context of one request."""

    system: System
    principal: Principal = LOCAL.principal
    bounds: Bounds = BOUNDS
    """Limits of programs."""
    seconds: float = inf
    """The deadline of the request."""
    kept: dict[Any, Any] = {}
    """A cache that the resolvers of this request share."""
    keyring: Keyring | None = None
    """The API keys, where the store keeps them."""
    webhooks: WebhookRegistry | None = None
    """The webhooks, where the gateway has them."""
    redeliver: Callable[[Webhook], Awaitable[int]] | None = None
    """Delivers the dead letters of a webhook; answers how many arrived."""
    gateway: GatewayReport | None = None
    """What the gateway tells of itself, where a gateway answers."""

    @property
    def log(self) -> LogReader:
        return LogReader(self.system, self.principal)

    @property
    def graph(self) -> Graph:
        return Graph(self.system, self.principal)


Info = strawberry.Info[RequestContext, None]
