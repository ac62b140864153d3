"""Stores for fault tests: a fresh URL of each durable kind, gone when the test is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import servers

EMBEDDED = ("file", "sqlite")
SERVERS = ("postgresql", "neo4j")
SHARED = ("sqlite", "postgresql", "neo4j")
"""Stores that several processes may open at once."""
DURABLE = (*EMBEDDED, *SERVERS)
PLACES = {"postgresql": {"schema": "ugs_faults"}, "neo4j": {"namespace": "Faults"}}
"""Where on a server our data lies, apart from everybody else's."""


@contextmanager
def fresh_url(name: str, folder: Path) -> Iterator[str]:
    """The URL of an empty store; the servers' own data is used by one test run at a time."""
    if name == "file":
        yield f"file:{folder}/data"
    elif name == "sqlite":
        yield f"sqlite:///{folder}/data.sqlite"
    else:
        url = servers.require(name)
        with servers.exclusive(name):
            yield with_options(url, **PLACES[name])


def with_options(url: str, **options: str | int | float) -> str:
    """The URL with more options behind its question mark."""
    told = "&".join(f"{name}={value}" for name, value in options.items())
    return f"{url}{'&' if '?' in url else '?'}{told}" if told else url
