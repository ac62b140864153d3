"""Parses and validates the URL of a Neo4j store."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from ugs.errors import UnknownStore

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
NAMESPACE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
EXAMPLE = "neo4j://user:password@localhost:7687/neo4j"


class Address(Struct, frozen=True):
    """The settings of a Neo4j store."""

    uri: str
    """Scheme, host and port for the driver, without credentials."""
    user: str | None = None
    password: str | None = None
    database: str | None = None
    """None: the server's default database."""
    namespace: str = ""
    """Suffix of every internal label, so that several stores can share the single database of Community Edition."""
    native: bool = True
    deadline: float = 30.0
    """Timeout of a single call in seconds."""
    hnsw: int = 0
    """The dimension of vectors for an approximate vector index, which may miss some rows; 0: exact search."""

    @property
    def auth(self) -> tuple[str, str] | None:
        return None if self.user is None else (self.user, self.password or "")

    def __str__(self) -> str:
        database = f"/{self.database}" if self.database else ""
        namespace = f" (namespace {self.namespace})" if self.namespace else ""
        return f"{self.uri}{database}{namespace}"


def parse_address(url: str) -> Address:
    """Parse a store URL; raises `UnknownStore` with the part at fault."""
    try:
        parts = urlsplit(url)
    except ValueError as error:  # brackets without an IP address
        raise UnknownStore(f"A Neo4j URL looks like {EXAMPLE}; write brackets in a password as %5B and %5D") from error
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise UnknownStore(f"A Neo4j URL looks like {EXAMPLE}; the scheme is one of {', '.join(SCHEMES)}")
    database = unquote(parts.path.strip("/"))
    return Address(
        uri=f"{parts.scheme}://{_parse_host(parts.hostname)}:{_parse_port(parts.netloc)}",
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=database or None,
        **_parse_options(parts.query),
    )


def _parse_host(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _parse_port(place: str) -> int:
    try:
        return urlsplit(f"//{place}").port or 7687
    except ValueError as error:
        raise UnknownStore("The port of a Neo4j URL is a number up to 65535, normally 7687") from error


def _parse_options(query: str) -> dict[str, Any]:
    given = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(given.keys() - _READERS.keys())
    if unknown:
        raise UnknownStore(
            f"Neo4j URLs have no option {unknown[0]!r}; known are {', '.join(sorted(_READERS))}",
            option=unknown[0],
        )
    return {name: _READERS[name](value) for name, value in given.items()}


def _parse_namespace(value: str) -> str:
    if not NAMESPACE.fullmatch(value):
        raise UnknownStore(
            "namespace: use at most 61 letters, digits or _, not starting with a digit", option="namespace"
        )
    return value


def _parse_switch(value: str) -> bool:
    if value not in ("on", "off"):
        raise UnknownStore("native: use on or off", option="native")
    return value == "on"


def _parse_dimension(value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value) <= 4_096:
        raise UnknownStore("hnsw: give the dimension of the embedder's vectors, from 1 to 4096", option="hnsw")
    return int(value)


def _parse_seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise UnknownStore("deadline: give the seconds that one call may take, for instance 30", option="deadline")
    return seconds


_READERS: dict[str, Callable[[str], Any]] = {
    "namespace": _parse_namespace,
    "native": _parse_switch,
    "deadline": _parse_seconds,
    "hnsw": _parse_dimension,
}
