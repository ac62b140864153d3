"""Conditional GET: an ETag made of the log position, so a cached answer is valid until an event is appended."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct
from starlette.requests import Request

import ugs
from ugs.identity import Principal
from ugs.system import System
from ugs.values import to_text


class ETag(Struct, frozen=True):
    """A weak ETag over version, log position and principal."""

    tag: str

    @classmethod
    async def of(cls, system: System, principal: Principal) -> ETag:
        """The current ETag for one principal."""
        async with system.session() as session:
            position = (await session.head()).position
        who = to_text([principal.user, principal.tenant, principal.project, principal.agent, sorted(principal.roles)])
        return cls(f'W/"{ugs.__version__}-{position}-{sha256(who.encode()).hexdigest()[:12]}"')

    @property
    def headers(self) -> dict[str, str]:
        """Caching headers: private to the caller and revalidated on each use."""
        return {
            "etag": self.tag,
            "cache-control": "private, no-cache",
            "vary": "accept, accept-encoding, authorization",
        }

    def is_known_to(self, request: Request) -> bool:
        """Whether If-None-Match contains this ETag."""
        return self.tag in [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
