"""Whether an answer a client still has is still right: it is, as long as the log has not moved."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct
from starlette.requests import Request

import ugs
from ugs.identity import Principal
from ugs.system import System


class Freshness(Struct, frozen=True):
    """What an answer depends on besides its address."""

    tag: str

    @classmethod
    async def of(cls, system: System, principal: Principal) -> Freshness:
        """The state of the log now, for one principal."""
        async with system.session() as session:
            position = (await session.head()).position
        who = f"{principal.user}\n{principal.tenant}\n{principal.project}\n{','.join(sorted(principal.roles))}"
        return cls(f'W/"{ugs.__version__}-{position}-{sha256(who.encode()).hexdigest()[:12]}"')

    @property
    def headers(self) -> dict[str, str]:
        """Keep the answer, but ask before using it, and never give it to somebody else."""
        return {
            "etag": self.tag,
            "cache-control": "private, no-cache",
            "vary": "accept, accept-encoding, authorization",
        }

    def is_known_to(self, request: Request) -> bool:
        """Whether the client's own copy is still right."""
        return self.tag in [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
