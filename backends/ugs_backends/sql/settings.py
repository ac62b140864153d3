"""Settings of SQL stores, parsed from their URLs.

    sqlite:///relative.db     a file, from the current folder; sqlite:./relative.db means the same
    sqlite:////absolute.db    a file, from the root; sqlite:/absolute.db means the same
    sqlite:///C:/absolute.db  a file on a drive of Windows; sqlite:C:/absolute.db means the same
    sqlite:                   a private temporary file, deleted with the process
    postgresql://user:password@host:port/database?schema=ugs    postgres:// means the same

    postgresql://user@first:5432,second:5433/database           several hosts, of which one accepts writes
    postgresql:///database?host=/var/run/postgresql             a Unix socket; postgresql://%2Fvar%2Frun/database, too

A PostgreSQL store lives in one schema of its own, `ugs` unless told otherwise, so that a database can hold several
and nothing else in it is touched. Options follow a `?`: `native=off`, `pool=10`, and for PostgreSQL `schema`,
`deadline=60`, `hnsw=256`, and those of libpq that `LIBPQ_OPTIONS` lists.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.support.url_paths import local_path

DEFAULT_SCHEMA = "ugs"
SCHEMA = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,47}")
DEFAULT_PORT = 5432
HOST_NAME = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}(%[A-Za-z0-9._-]+)?")
SESSION_ATTRIBUTES = ("any", "read-write", "read-only", "primary", "standby", "prefer-standby")
TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
SETTING = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.]*")
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
    ssl_password: str | None = None
    """The password of the key."""
    ssl_min_version: str | None = None
    more_hosts: tuple[tuple[str, int], ...] = ()
    """Other hosts of the same cluster, tried in turn; a host that begins with `/` is the folder of a Unix socket."""
    session_attributes: str | None = None
    """Which of the hosts is wanted; without it any single host, and of several one that accepts writes."""
    connect_timeout: float | None = None
    application_name: str | None = None
    password_file: str | None = None
    listen: bool = True
    """Whether commits are announced and heard of by LISTEN and NOTIFY; without, watchers poll."""
    row_lock: bool = False
    """Whether writers take turns by a row instead of an advisory lock; all gateways of a store alike."""
    replicas: tuple[tuple[str, int], ...] = ()
    """Standbys that reads may go to."""
    server_settings: tuple[tuple[str, str], ...] = ()
    """Further settings of the server for each connection, from libpq's `options`."""

    @property
    def hosts(self) -> tuple[tuple[str, int], ...]:
        """All hosts with their ports."""
        return ((self.host, self.port), *self.more_hosts)

    @property
    def place(self) -> str:
        """Hosts and database, for people."""
        hosts = ",".join(f"{_bracketed(host)}:{port}" for host, port in self.hosts)
        return f"{hosts}/{self.database}"

    def __repr__(self) -> str:
        return f"PostgresqlSettings({self.place}, schema {self.schema})"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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


def _parse_choice(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        return choices[choices.index(text)]

    return read


def _parse_connect_timeout(text: str) -> float | None:
    """As in libpq: 0 and negative numbers mean no timeout of one's own."""
    seconds = int(text)
    return float(seconds) if seconds > 0 else None


def _parse_server_settings(text: str) -> tuple[tuple[str, str], ...]:
    """`-c name=value`, also without the blank, and `--name=value`."""
    words, found = shlex.split(text), []
    while words:
        word = words.pop(0)
        if word == "-c":
            word = words.pop(0) if words else ""
        elif word.startswith(("-c", "--")):
            word = word[2:]
        else:
            raise ValueError(text)
        name, equals, value = word.partition("=")
        if not equals or not SETTING.fullmatch(name):
            raise ValueError(text)
        found.append((name, value))
    return tuple(found)


def _parse_text(text: str) -> str:
    if not 1 <= len(text) <= 63 or not text.isprintable():
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
    "sslpassword": (str, "a password"),
    "ssl_min_protocol_version": (_parse_choice(*TLS_VERSIONS), " or ".join(TLS_VERSIONS)),
    "target_session_attrs": (_parse_choice(*SESSION_ATTRIBUTES), f"one of {', '.join(SESSION_ATTRIBUTES)}"),
    "connect_timeout": (_parse_connect_timeout, "a whole number of seconds"),
    "application_name": (_parse_text, "a name of at most 63 characters"),
    "fallback_application_name": (_parse_text, "a name of at most 63 characters"),
    "passfile": (_parse_file, "a file"),
    "listen": (_parse_switch, "on or off"),
    "lock": (lambda text: {"advisory": False, "row": True}[text], "advisory or row"),
    "replicas": (lambda text: tuple(_parse_hosts(text)), "hosts of standbys, with commas between"),
    "options": (_parse_server_settings, "settings of the server as -c name=value"),
    "gssencmode": (_parse_choice("disable", "prefer"), "disable or prefer: GSS encryption is not built in"),
    "channel_binding": (_parse_choice("disable", "prefer"), "disable or prefer: channel binding is not built in"),
}
"""Our options and those of libpq; `host`, `port`, `user`, `password` and `dbname` may stand there, too."""
PLACE_OPTIONS = ("host", "port", "user", "password", "dbname")
WITHOUT_EFFECT = ("gssencmode", "channel_binding")
FIELDS = {
    "sslmode": "ssl",
    "sslrootcert": "ssl_root_certificate",
    "sslcert": "ssl_certificate",
    "sslkey": "ssl_key",
    "lock": "row_lock",
    "sslpassword": "ssl_password",
    "ssl_min_protocol_version": "ssl_min_version",
    "target_session_attrs": "session_attributes",
    "fallback_application_name": "application_name",
    "passfile": "password_file",
    "options": "server_settings",
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
    except ValueError as error:
        raise InvalidSyntax(f"The hosts in the store's URL are not right. {ESCAPES}") from error
    login, _, hosts = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    query = parse_qsl(parts.query, keep_blank_values=True)
    named = {name: text for name, text in query if name in PLACE_OPTIONS}
    rest = [(name, text) for name, text in query if name not in PLACE_OPTIONS]
    found = _parse_hosts(named.get("host") or hosts, named.get("port"))
    database = named.get("dbname") or unquote(parts.path.lstrip("/"))
    if not found or not database:
        raise InvalidSyntax(
            "A PostgreSQL store needs a host and a database: postgresql://user:password@host:port/database?schema=ugs, "
            "or postgresql:///database?host=/var/run/postgresql for a Unix socket"
        )
    (host, port), *others = found
    chosen = _read_options(rest, POSTGRESQL_OPTIONS, "PostgreSQL")
    return PostgresqlSettings(
        host,
        port,
        named.get("user") or (unquote(user) if user else None),
        named.get("password") or (unquote(password) if colon else None),
        database,
        **{name: value for name, value in chosen.items() if name not in WITHOUT_EFFECT},
        more_hosts=tuple(others),
    )


ESCAPES = "In a user's name or password write / as %2F, @ as %40, : as %3A, ? as %3F, # as %23, [ as %5B and ] as %5D"


def _parse_hosts(text: str, ports: str | None = None) -> list[tuple[str, int]]:
    """`host`, `host:port`, `[address]:port`, a folder of Unix sockets, and several of them with commas between. Ports
    given apart are one for all hosts, or one for each."""
    found = [_parse_host(one) for one in text.split(",")] if text else []
    if ports is None:
        return [(host, port or DEFAULT_PORT) for host, port in found]
    numbers = [_parse_port(one) for one in ports.split(",")]
    if len(numbers) not in (1, len(found)):
        raise InvalidSyntax(
            f"There are {len(found)} hosts and {len(numbers)} ports: give one port, or one for each host"
        )
    numbers = numbers * len(found) if len(numbers) == 1 else numbers
    return [(host, port or number) for (host, port), number in zip(found, numbers, strict=True)]


def _parse_host(text: str) -> tuple[str, int | None]:
    name = unquote(text)
    if name.startswith("/"):
        return name, None
    if name.startswith("["):
        host, closed, rest = name[1:].partition("]")
        colon, port = rest[:1], rest[1:]
        is_right = bool(closed) and (not rest or colon == ":")
    else:
        host, colon, port = name.partition(":")
        is_right = True
    if not is_right or not HOST_NAME.fullmatch(host):
        raise InvalidSyntax(f"A host in the store's URL is not right: a host is a name or an address. {ESCAPES}")
    return host, _parse_port(port) if colon else None


def _parse_port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= 65_535:
        raise InvalidSyntax(f"The port in the store's URL is not a number from 1 to 65535. {ESCAPES}")
    return int(text)


def ssl_mode(settings: PostgresqlSettings) -> str | None:
    """The mode of the URL, else that of the variable PGSSLMODE, as in libpq."""
    named = os.environ.get("PGSSLMODE")
    if settings.ssl is None and named and named not in SSL_MODES:
        raise InvalidSyntax(f"PGSSLMODE must be one of {', '.join(SSL_MODES)}, got {named!r}", variable="PGSSLMODE")
    return settings.ssl or named or None


def _parse_options(query: str, known: Options, store: str) -> dict[str, Any]:
    return _read_options(parse_qsl(query, keep_blank_values=True), known, store)


def _read_options(given: Sequence[tuple[str, str]], known: Options, store: str) -> dict[str, Any]:
    chosen = {}
    for name, text in given:
        if name not in known:
            raise InvalidSyntax(f"The {store} store has no option {name!r}. It knows: {', '.join(known)}", option=name)
        read, meaning = known[name]
        try:
            chosen[FIELDS.get(name, name)] = read(text)
        except (ValueError, KeyError) as error:
            raise InvalidSyntax(f"Option {name} must be {meaning}, got {text!r}", option=name) from error
    return chosen
