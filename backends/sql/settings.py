"""What the URL of an SQL store says.

    sqlite:///relative.db     a file, from the current folder; sqlite:./relative.db means the same
    sqlite:////absolute.db    a file, from the root; sqlite:/absolute.db means the same
    sqlite:///C:/absolute.db  a file on a drive of Windows; sqlite:C:/absolute.db means the same
    sqlite:                   a private file that is gone with the process
    postgresql://user:password@host:port/database?schema=ugs

A PostgreSQL store lives in one schema of its own, `ugs` unless told otherwise, so that a database can hold several
and nothing else in it is touched. Options follow a `?`: `native=off`, `pool=10`, and for PostgreSQL `schema`, `ssl`,
`deadline=60`, `hnsw=256`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.local_paths import local_path

DEFAULT_SCHEMA = "ugs"
SCHEMA = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,47}")
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


class SqliteSettings(Struct, frozen=True):
    """Where the file is; None for a private one."""

    path: Path | None
    native: bool = True
    pool: int = 10


class PostgresqlSettings(Struct, frozen=True):
    """Which server, database and schema, and as whom."""

    host: str
    port: int
    user: str | None
    password: str | None
    database: str
    schema: str = DEFAULT_SCHEMA
    ssl: str | None = None
    native: bool = True
    pool: int = 10
    deadline: float = 60.0
    """Seconds that one statement may take; a server that does not even answer by then is given up."""
    hnsw: int = 0
    """The dimension of vectors that are found by a quick index, which may miss some; 0: exactly."""

    def __repr__(self) -> str:
        return f"PostgresqlSettings({self.host}:{self.port}/{self.database}, schema {self.schema})"


def _switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


def _count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= 1_000:
        raise ValueError(text)
    return count


def _dimension(text: str) -> int:
    dimension = int(text)
    if not 1 <= dimension <= 2_000:
        raise ValueError(text)
    return dimension


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 86_400:
        raise ValueError(text)
    return seconds


def _schema(text: str) -> str:
    if not SCHEMA.fullmatch(text) or text.startswith("pg_"):
        raise ValueError(text)
    return text


def _ssl(text: str) -> str:
    if text not in SSL_MODES:
        raise ValueError(text)
    return text


Options = Mapping[str, tuple[Callable[[str], Any], str]]
SQLITE_OPTIONS: Options = {
    "native": (_switch, "on or off"),
    "pool": (_count, "a number of connections from 1 to 1000"),
}
POSTGRESQL_OPTIONS: Options = {
    **SQLITE_OPTIONS,
    "schema": (_schema, "letters, digits and _, at most 48, not starting with a digit or pg_"),
    "deadline": (_seconds, "a number of seconds from 0.1 to 86400"),
    "hnsw": (_dimension, "the dimension of the embedder's vectors, from 1 to 2000"),
    "ssl": (_ssl, f"one of {', '.join(SSL_MODES)}"),
}


def settings_from(url: str) -> SqliteSettings | PostgresqlSettings:
    """The settings a URL stands for, or E005 in words that never repeat a password."""
    scheme = url.partition(":")[0].partition("+")[0]
    return _sqlite(url) if scheme == "sqlite" else _postgresql(url)


def _sqlite(url: str) -> SqliteSettings:
    path, _, query = url.partition(":")[2].partition("?")
    options = _options(query, SQLITE_OPTIONS, "SQLite")
    if path in ("", "//", "///", ":memory:", "///:memory:"):
        return SqliteSettings(None, **options)
    file = path[3:] if path.startswith("///") else path
    if file.startswith("//") or file.endswith("/"):
        raise InvalidSyntax(
            f"{url!r} names no file: write sqlite:///relative.db or sqlite:////absolute/path.db, "
            "or sqlite: for a private database that is not kept",
            url=url,
        )
    return SqliteSettings(local_path(file), **options)


def _postgresql(url: str) -> PostgresqlSettings:
    try:
        parts = urlsplit(url)
        port = parts.port or 5432
    except ValueError as error:
        raise InvalidSyntax("The port in the store's URL is not a number from 1 to 65535") from error
    database = unquote(parts.path.lstrip("/"))
    if not parts.hostname or not database:
        raise InvalidSyntax(
            "A PostgreSQL store needs a host and a database: postgresql://user:password@host:port/database?schema=ugs"
        )
    return PostgresqlSettings(
        parts.hostname,
        port,
        None if parts.username is None else unquote(parts.username),
        None if parts.password is None else unquote(parts.password),
        database,
        **_options(parts.query, POSTGRESQL_OPTIONS, "PostgreSQL"),
    )


def _options(query: str, known: Options, store: str) -> dict[str, Any]:
    chosen = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            raise InvalidSyntax(f"The {store} store has no option {name!r}. It knows: {', '.join(known)}", option=name)
        read, meaning = known[name]
        try:
            chosen[name] = read(text)
        except (ValueError, KeyError) as error:
            raise InvalidSyntax(f"Option {name} must be {meaning}, got {text!r}", option=name) from error
    return chosen
