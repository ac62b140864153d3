"""Settings of SQL stores, parsed from their URLs.

    sqlite:///relative.db     a file, from the current folder; sqlite:./relative.db means the same
    sqlite:////absolute.db    a file, from the root; sqlite:/absolute.db means the same
    sqlite:///C:/absolute.db  a file on a drive of Windows; sqlite:C:/absolute.db means the same
    sqlite:                   a private temporary file, deleted with the process
    postgresql://user:password@host:port/database?schema=ugs    postgres:// means the same

A PostgreSQL store lives in one schema of its own, `ugs` unless told otherwise, so that a database can hold several
and nothing else in it is touched. Options follow a `?`: `native=off`, `pool=10`, and for PostgreSQL `schema`,
`deadline=60`, `hnsw=256`, and as in libpq `sslmode` (or `ssl`), `sslrootcert`, `sslcert`, `sslkey`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.support.url_paths import local_path

DEFAULT_SCHEMA = "ugs"
SCHEMA = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,47}")
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


class SqliteSettings(Struct, frozen=True):
    """The settings of a SQLite store; path None for a private temporary file."""

    path: Path | None
    native: bool = True
    pool: int = 10
    history: bool = True
    """Keep versions of rows, so that reads of the past need no replay."""


class PostgresqlSettings(Struct, frozen=True):
    """The settings of a PostgreSQL store."""

    host: str
    port: int
    user: str | None
    password: str | None
    database: str
    schema: str = DEFAULT_SCHEMA
    ssl: str | None = None
    native: bool = True
    pool: int = 10
    history: bool = True
    """Keep versions of rows, so that reads of the past need no replay."""
    deadline: float = 60.0
    """Timeout in seconds of one statement; a connection that does not answer by then is dropped."""
    hnsw: int = 0
    """The dimension of vectors for an approximate HNSW index, which may miss some rows; 0: exact search."""
    ssl_root_certificate: str | None = None
    """A file with the trusted certificates; `system` for those of the operating system."""
    ssl_certificate: str | None = None
    ssl_key: str | None = None
    """The client certificate and its key, where the server requires one."""

    def __repr__(self) -> str:
        return f"PostgresqlSettings({self.host}:{self.port}/{self.database}, schema {self.schema})"


def _parse_switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


def _parse_count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= 1_000:
        raise ValueError(text)
    return count


def _parse_dimension(text: str) -> int:
    dimension = int(text)
    if not 1 <= dimension <= 2_000:
        raise ValueError(text)
    return dimension


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 86_400:
        raise ValueError(text)
    return seconds


def _parse_schema(text: str) -> str:
    if not SCHEMA.fullmatch(text) or text.startswith("pg_"):
        raise ValueError(text)
    return text


def _parse_ssl(text: str) -> str:
    if text not in SSL_MODES:
        raise ValueError(text)
    return text


def _parse_file(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError(text)
    return text


Options = Mapping[str, tuple[Callable[[str], Any], str]]
SQLITE_OPTIONS: Options = {
    "native": (_parse_switch, "on or off"),
    "history": (_parse_switch, "on or off"),
    "pool": (_parse_count, "a number of connections from 1 to 1000"),
}
POSTGRESQL_OPTIONS: Options = {
    **SQLITE_OPTIONS,
    "schema": (_parse_schema, "letters, digits and _, at most 48, not starting with a digit or pg_"),
    "deadline": (_parse_seconds, "a number of seconds from 0.1 to 86400"),
    "hnsw": (_parse_dimension, "the dimension of the embedder's vectors, from 1 to 2000"),
    "ssl": (_parse_ssl, f"one of {', '.join(SSL_MODES)}"),
    "sslmode": (_parse_ssl, f"one of {', '.join(SSL_MODES)}"),
    "sslrootcert": (_parse_file, "a file of certificates, or system"),
    "sslcert": (_parse_file, "a file with a certificate"),
    "sslkey": (_parse_file, "a file with a key"),
}
FIELDS = {
    "sslmode": "ssl",
    "sslrootcert": "ssl_root_certificate",
    "sslcert": "ssl_certificate",
    "sslkey": "ssl_key",
}
"""Option names of libpq, mapped to fields."""


def parse_settings(url: str) -> SqliteSettings | PostgresqlSettings:
    """Parse a URL; raises E005 if it is invalid, with a message that never contains the password."""
    scheme = url.partition(":")[0].partition("+")[0]
    return _parse_sqlite(url) if scheme == "sqlite" else _parse_postgresql(url)


def _parse_sqlite(url: str) -> SqliteSettings:
    path, _, query = url.partition(":")[2].partition("?")
    options = _parse_options(query, SQLITE_OPTIONS, "SQLite")
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


def _parse_postgresql(url: str) -> PostgresqlSettings:
    try:
        parts = urlsplit(url)
        port = parts.port or 5432
    except ValueError as error:
        raise InvalidSyntax(
            "The port in the store's URL is not a number from 1 to 65535. In a user's name or password write / as %2F, "
            "@ as %40, : as %3A, ? as %3F, # as %23, [ as %5B and ] as %5D"
        ) from error
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
        **_parse_options(parts.query, POSTGRESQL_OPTIONS, "PostgreSQL"),
    )


def _parse_options(query: str, known: Options, store: str) -> dict[str, Any]:
    chosen = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in known:
            raise InvalidSyntax(f"The {store} store has no option {name!r}. It knows: {', '.join(known)}", option=name)
        read, meaning = known[name]
        try:
            chosen[FIELDS.get(name, name)] = read(text)
        except (ValueError, KeyError) as error:
            raise InvalidSyntax(f"Option {name} must be {meaning}, got {text!r}", option=name) from error
    return chosen
