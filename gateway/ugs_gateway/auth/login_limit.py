"""Limit of failed logins per network address and minute.

Keys have 256 random bits and cannot be guessed; the limit bounds the work and the log lines that attempts cost. A valid
credential is always accepted, however many invalid ones came from the same address, so that clients who share an
address with an attacker (a proxy, an office) are not locked out.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv6Address

from ugs_gateway.http.rate_limit import RateLimiter, TooManyRequests

IPV6_NETWORK_BITS = 64
"""A provider assigns a customer at least a /64, and the customer may use any address in it."""


class LoginLimit:
    """Counts failed logins by network, for a bounded number of networks."""

    def __init__(self, per_minute: int) -> None:
        self._rates = RateLimiter(per_minute)

    def count_failure(self, address: str) -> None:
        """Count a failed login; raises `TooManyRequests` when the network exceeds the limit."""
        try:
            self._rates.take(network_of(address))
        except TooManyRequests as error:
            wait = error.details["seconds"]
            raise TooManyRequests(
                f"Too many wrong keys or tokens came from this address: wait {wait} s", seconds=wait
            ) from error


def network_of(address: str) -> str:
    """The network that counts as one client: the address for IPv4, the /64 for IPv6."""
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address.partition("%")[0])
    except AddressValueError:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{int(found) >> (128 - IPV6_NETWORK_BITS):x}/{IPV6_NETWORK_BITS}"
