"""What a resolver finds around it: the system, and the graph on behalf of whoever asks."""

from __future__ import annotations

from math import inf
from typing import Any

import strawberry
from msgspec import Struct

from ugs.api import Graph
from ugs.identity import LOCAL, Principal
from ugs.keyring import Keyring
from ugs.programs.bounds import BOUNDS, Bounds
from ugs.system import System


class RequestContext(Struct, frozen=True):
    """One request's surroundings."""

    system: System
    principal: Principal = LOCAL.principal
    bounds: Bounds = BOUNDS
    """What a program may use."""
    seconds: float = inf
    """How long the request may take."""
    kept: dict[Any, Any] = {}
    """What resolvers of this request share with each other."""
    keyring: Keyring | None = None
    """The API keys, where the store keeps them."""

    @property
    def graph(self) -> Graph:
        return Graph(self.system, self.principal)


Info = strawberry.Info[RequestContext, None]
