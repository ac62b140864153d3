"""Continued authorisation of open streams: checked at every delivery, and every few seconds while idle.

A request is authenticated once. A subscription, a WebSocket or an MCP stream may stay open for days; meanwhile its key
may be revoked, its token may expire, or the rights of the key may change. All streams use this module and end within
`CHECK_SECONDS` after this gateway has learnt of the change. It learns of a revocation by another gateway from the log
of keys (about a second), of a changed token file within `ugs_gateway.auth.authenticator.FILE_CHECK_SECONDS`, and of the
expiry of a token from its claim; together that stays below 30 seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ugs.errors import Forbidden, UgsError, Unauthenticated
from ugs.identity import Principal

if TYPE_CHECKING:
    from ugs_gateway.auth.authenticator import Authenticator

CHECK_SECONDS = 5.0
"""Interval of checks while a stream is idle."""


class AccessEnded(Exception):
    """The stream must end; carries the error for the client."""

    def __init__(self, error: UgsError) -> None:
        super().__init__(error.message)
        self.error = error


class StreamAccess:
    """The authorisation of an open stream, and whether it is still valid."""

    def __init__(self, authenticator: Authenticator, authorization: str | None, principal: Principal) -> None:
        self.authenticator, self.authorization, self.principal = authenticator, authorization, principal

    def find_principal(self) -> Principal | None:
        """The principal that the credential gives now; None when it is no longer accepted. A cached look-up in most
        cases."""
        try:
            return self.authenticator.principal(self.authorization)
        except Unauthenticated:
            return None

    def is_known(self) -> bool:
        """Whether the credential is still accepted, with whatever rights."""
        return self.authenticator.open or self.find_principal() is not None

    def is_current(self) -> bool:
        """Whether the credential still gives the same principal with the same roles."""
        return self.authenticator.open or self.find_principal() == self.principal

    async def wait_until_unknown(self) -> None:
        """Return when the credential is no longer accepted."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if not self.is_known():
                return

    def ended(self) -> AccessEnded:
        """The error that ends the stream."""
        if self.is_known():
            return AccessEnded(Forbidden("What this key or token may do has changed: subscribe again"))
        return AccessEnded(Unauthenticated("This key or token is no longer valid"))

    def check(self) -> None:
        """Raise `AccessEnded` unless the stream may deliver another result."""
        if not self.is_current():
            raise self.ended()

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Cancel the block and raise `AccessEnded` within `CHECK_SECONDS` after the authorisation has ended.

        Costs one timer. Not for blocks that contain a `yield` of an asynchronous generator.
        """
        if self.authenticator.open:
            yield
            return
        loop, timer = asyncio.get_running_loop(), None

        def look() -> None:
            nonlocal timer
            if self.is_current():
                timer = loop.call_later(CHECK_SECONDS, look)
            else:
                block.reschedule(loop.time())

        try:
            async with asyncio.timeout(None) as block:
                timer = loop.call_later(CHECK_SECONDS, look)
                yield
        except TimeoutError:
            if not block.expired():
                raise
            raise self.ended() from None
        finally:
            if timer is not None:
                timer.cancel()
