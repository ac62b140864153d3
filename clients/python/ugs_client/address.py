"""Where a gateway is, and what each request to it says about itself."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, urlsplit

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
REQUEST_SECONDS = 60.0
STREAM_SILENCE_SECONDS = 40.0
"""A gateway sends a heartbeat every 12 seconds; a stream that is silent for longer is taken for lost."""
MAX_HEAD_BYTES = 64 * 1024


class Address(NamedTuple):
    """A gateway: the parts of its URL, and the headers of a request."""

    host: str
    port: int
    secure: bool
    path: str
    authority: str
    token: str | None = None

    def headers(self, accept: str) -> dict[str, str]:
        """The headers of a GraphQL request."""
        told = {"host": self.authority, "content-type": JSON_TYPE, "accept": accept, "user-agent": "ugs-client"}
        return told | ({"authorization": f"Bearer {self.token}"} if self.token else {})


def parse_address(url: str, token: str | None, ontology: str | None) -> Address:
    """The address of `/graphql` below a URL, or of the schema of an ontology."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a gateway, such as http://localhost:8000")
    secure = parts.scheme == "https"
    base = parts.path.rstrip("/").removesuffix("/graphql")
    path = f"{base}/graphql" + (f"/{quote(ontology, safe='')}" if ontology else "")
    authority = parts.netloc.rpartition("@")[2]
    return Address(parts.hostname, parts.port or (443 if secure else 80), secure, path, authority, token)
