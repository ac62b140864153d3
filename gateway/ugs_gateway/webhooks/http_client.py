"""One HTTP POST to an address that somebody else has chosen.

The name is resolved once, every address is checked, and the connection goes to one that was checked, so that a name
which leads elsewhere a moment later reaches nothing inside. Redirects are not followed and no proxy is used.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from msgspec import Struct

from ugs import __version__

MAX_HEAD_BYTES = 32 << 10
MAX_ADDRESSES = 8
NAT64, SIX_TO_FOUR = ip_network("64:ff9b::/96"), ip_network("2002::/16")
"""IPv6 networks whose addresses stand for IPv4 ones."""


class DeliveryFailed(Exception):
    """A try that did not succeed; the reason, for the dead letter, contains nothing that the receiver said."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Received(Struct, frozen=True):
    """What the receiver answered."""

    status: int
    retry_after: float | None = None


class HttpClient:
    """Posts to public addresses, or to all if `allows_private`."""

    def __init__(self, allows_private: bool, seconds: float) -> None:
        self.allows_private, self.seconds = allows_private, seconds
        self._tls: ssl.SSLContext | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        """Send the body; raises `DeliveryFailed` if no answer came."""
        try:
            async with asyncio.timeout(self.seconds):
                return await self._post(url, headers, body)
        except TimeoutError:
            raise DeliveryFailed(f"no answer within {self.seconds:g} seconds") from None
        except ssl.SSLError as error:
            raise DeliveryFailed(f"TLS failed: {error.reason or type(error).__name__}") from None
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            raise DeliveryFailed(f"the connection failed: {type(error).__name__}") from None

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        parts = urlsplit(url)
        host, is_tls = parts.hostname or "", parts.scheme == "https"
        if not is_tls and not self.allows_private:
            raise DeliveryFailed("the address must begin with https")
        port = parts.port or (443 if is_tls else 80)
        address = await self._resolve(host, port)
        tls = {"ssl": self._context(), "server_hostname": host} if is_tls else {}
        reader, writer = await asyncio.open_connection(address, port, limit=MAX_HEAD_BYTES, **tls)  # type: ignore[arg-type]
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            lines = [f"POST {target} HTTP/1.1", f"host: {parts.netloc}", f"content-length: {len(body)}"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            lines += [f"user-agent: UGS-Gateway/{__version__}", "connection: close", "", ""]
            writer.write("\r\n".join(lines).encode("ascii") + body)
            await writer.drain()
            return parse_head(await reader.readuntil(b"\r\n\r\n"))
        finally:
            writer.transport.abort()

    async def _resolve(self, host: str, port: int) -> str:
        """An address of the host that may be used."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found[:MAX_ADDRESSES]]
        if not addresses:
            raise DeliveryFailed("the name has no address")
        if not self.allows_private and not all(map(is_public, addresses)):
            raise DeliveryFailed("the address is private: set webhook_private_addresses to allow it")
        return addresses[0]

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


def parse_head(head: bytes) -> Received:
    """Status and `Retry-After` of an answer; `ValueError` for anything but HTTP."""
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise ValueError("not HTTP")
    found = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    pause = found.get("retry-after", "")
    return Received(int(rest[:3]), float(pause) if pause.isascii() and pause.isdigit() and len(pause) < 7 else None)


def is_public(text: str) -> bool:
    """Whether an address is one of the internet, also behind the IPv6 forms that contain an IPv4 address."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        inner = embedded_ipv4(address)
        if inner is not None:
            address = inner
    return address.is_global and not address.is_multicast


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address in SIX_TO_FOUR:
        return IPv4Address((int(address) >> 80) & 0xFFFFFFFF)
    return None
