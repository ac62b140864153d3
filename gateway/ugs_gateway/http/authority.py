"""Strict parsing of the Host and Origin headers, and the policy which hosts are accepted.

A Host header is a host and an optional port; an Origin header has a scheme in front. User info, paths, other schemes
and unusual spellings of addresses are rejected. HTTP, the fast path, WebSockets and MCP all use this module, so the
same rule holds for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

MAX_HOST_CHARS = 260
"""The longest DNS name (253) with a port."""
HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\\\s]{1,260})")
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_PORT = 65_535
HOST_CACHE_SIZE = 1_000


class Host(NamedTuple):
    """A host in lower case (IPv6 without brackets), and the port if one is given."""

    name: str
    port: int | None = None

    @property
    def is_address(self) -> bool:
        """Whether it is an IP address, which DNS rebinding cannot redirect."""
        return ":" in self.name or self.name.rpartition(".")[2].isdecimal()

    @property
    def is_loopback(self) -> bool:
        """Whether it is a loopback address or `localhost`."""
        return self.name == "localhost" or (self.is_address and _is_loopback_address(self.name))


class Origin(NamedTuple):
    """The origin of a web page."""

    scheme: str
    host: Host

    @property
    def port(self) -> int:
        """The port, or the default port of the scheme."""
        return self.host.port or DEFAULT_PORTS[self.scheme]

    def is_page_of(self, host: Host) -> bool:
        """Whether the page has the same origin as the requested host."""
        return self.host.name == host.name and self.port == (host.port or DEFAULT_PORTS[self.scheme])


@lru_cache(HOST_CACHE_SIZE)
def parse_host(text: str) -> Host | None:
    """Parse a Host header; None if it is malformed."""
    found = HOST.fullmatch(text) if len(text) <= MAX_HOST_CHARS else None
    if found is None:
        return None
    name, port = _canonical_name(found["name"]), found["port"]
    if name is None or (port is not None and not 0 < int(port) <= MAX_PORT):
        return None
    return Host(name, None if port is None else int(port))


def parse_origin(text: str) -> Origin | None:
    """Parse an Origin header; None for opaque origins (`null`) and malformed ones."""
    found = ORIGIN.fullmatch(text) if len(text) <= MAX_HOST_CHARS + len("https://") else None
    host = None if found is None else parse_host(found["host"])
    return None if found is None or host is None else Origin(found["scheme"], host)


def _canonical_name(text: str) -> str | None:
    if text.startswith("["):
        return _canonical_address(text[1:-1], six=True)
    labels = text.lower().split(".")
    # Browsers treat a name whose last label is a number as an IPv4 address, also in octal, hexadecimal and short forms.
    if NUMBER.fullmatch(labels[-1]):
        return _canonical_address(text, six=False)
    return ".".join(labels) if all(LABEL.fullmatch(label) for label in labels) else None


def _canonical_address(text: str, six: bool) -> str | None:
    from ipaddress import ip_address  # imported late: the command line loads this module for the settings only

    try:
        found = ip_address(text)
    except ValueError:
        return None
    return str(found) if (found.version == 6) is six else None


def _is_loopback_address(name: str) -> bool:
    from ipaddress import IPv6Address, ip_address

    found = ip_address(name)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback


class HostPolicy:
    """Which Host headers are accepted.

    Protects against DNS rebinding, where a foreign page points its own name at this machine and its browser then treats
    the gateway as same-origin. Without authentication only IP addresses, `localhost` and configured names are accepted;
    on a loopback listener only loopback addresses, `localhost` and configured names.
    """

    def __init__(self, names: Iterable[str] = (), local_only: bool = False, any_name: bool = False) -> None:
        self.names = frozenset(name.lower() for name in names)
        self.local_only = local_only
        self.any_name = any_name and not self.names and not local_only

    def accepts(self, text: str) -> bool:
        """Whether a Host header is accepted."""
        host = parse_host(text)
        if host is None:
            return False
        if self.any_name or host.is_loopback or host.name in self.names:
            return True
        return host.is_address and not self.local_only
