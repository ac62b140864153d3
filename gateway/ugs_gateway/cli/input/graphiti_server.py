"""Reads the graph of Graphiti from the Neo4j server that holds it, in the shape of `ugs.facts.importers.graphiti`.

The graph is only read. Entities that an episode mentions come with its note, even if no edge leads to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from msgspec import Struct

from ugs.errors import InvalidSyntax, StorageIOError
from ugs.facts.importers import Row
from ugs.facts.importers.graphiti import read_rows

if TYPE_CHECKING:
    from neo4j import Session

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
EXAMPLE = "neo4j://user:password@localhost:7687/neo4j?group=alice"
ROWS_AT_ONCE = 1_000
CONNECT_SECONDS = 10.0
EPISODES = """
MATCH (episode:Episodic) WHERE $group IS NULL OR episode.group_id = $group
OPTIONAL MATCH (episode)-[:MENTIONS]->(entity:Entity)
WITH episode, collect(DISTINCT {name: entity.name, labels: labels(entity)}) AS entities
RETURN episode.uuid AS uuid, episode.name AS name, episode.content AS content, entities
ORDER BY episode.valid_at, uuid
"""
EDGES = """
MATCH (start:Entity)-[edge:RELATES_TO]->(end:Entity) WHERE $group IS NULL OR edge.group_id = $group
RETURN edge.uuid AS uuid, start.name AS source, end.name AS target, edge.name AS name, edge.fact AS fact,
       coalesce(edge.valid_at, edge.created_at) AS valid_at, coalesce(edge.invalid_at, edge.expired_at) AS invalid_at
ORDER BY edge.created_at, uuid
"""


class Source(Struct, frozen=True):
    """Where a graph of Graphiti is."""

    uri: str
    """For the driver: without user, password, database and group."""
    user: str | None
    password: str
    database: str | None
    group: str | None
    """Graphiti's `group_id`; None: all of them."""

    def __str__(self) -> str:
        return f"{self.uri}/{self.database or ''}".rstrip("/")


def is_server(file: str) -> bool:
    """Whether what is given as a file is the URL of a server."""
    return file.partition("://")[0] in SCHEMES and "://" in file


def parse_source(url: str) -> Source:
    """Parse the URL of a server; refused with E005, without showing what it says."""
    wanted = f"the address of Graphiti's server looks like {EXAMPLE}"
    try:
        parts = urlsplit(url)
        port = parts.port or 7687
    except ValueError as error:
        raise InvalidSyntax(wanted) from error
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not parts.hostname or options.keys() - {"group"} or parts.fragment:
        raise InvalidSyntax(wanted)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Source(
        uri=urlunsplit((parts.scheme, f"{host}:{port}", "", "", "")),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password or ""),
        database=unquote(parts.path.strip("/")) or None,
        group=options.get("group"),
    )


@contextmanager
def open_session(source: Source) -> Iterator[Session]:
    """A session that reads; what goes wrong inside is refused with E007."""
    try:
        import neo4j
        from neo4j.exceptions import DriverError, Neo4jError
    except ImportError as error:
        raise InvalidSyntax("Reading from Neo4j needs the extra neo4j: pip install 'ugs-gateway[neo4j]'") from error
    auth = None if source.user is None else (source.user, source.password)
    try:
        with (
            neo4j.GraphDatabase.driver(
                source.uri, auth=auth, connection_timeout=CONNECT_SECONDS, notifications_min_severity="OFF"
            ) as driver,
            driver.session(
                database=source.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=ROWS_AT_ONCE
            ) as session,
        ):
            yield session
    except (Neo4jError, DriverError, OSError) as error:
        raise StorageIOError(f"Graphiti's server at {source} could not be read: {error}") from error


def check_server(source: Source) -> None:
    """Refuse a server that does not answer, before anything is made for what it holds."""
    with open_session(source) as session:
        session.run("RETURN 1").consume()


def read_server(source: Source) -> Iterator[Row]:
    """The notes of all episodes and edges."""
    with open_session(source) as session:
        yield from read_rows("episodes", map(to_episode, read_answer(session, EPISODES, source.group)))
        yield from read_rows("edges", map(to_edge, read_answer(session, EDGES, source.group)))


def read_answer(session: Session, query: str, group: str | None) -> Iterator[dict[str, Any]]:
    """The rows of a query, as they arrive."""
    for record in session.run(query, group=group):
        yield dict(record)


def to_episode(row: dict[str, Any]) -> dict[str, Any]:
    """An episode with the entities it mentions; their kind is the label that is not Graphiti's own."""
    mentioned = [
        {"name": one["name"], "kind": next((label for label in sorted(one["labels"]) if label != "Entity"), None)}
        for one in row["entities"]
        if one["name"]
    ]
    return {**row, "entities": sorted(mentioned, key=lambda one: str(one["name"]))}


def to_edge(row: dict[str, Any]) -> dict[str, Any]:
    """An edge with its times as text."""
    return {**row, **{name: to_text(row[name]) for name in ("valid_at", "invalid_at")}}


def to_text(moment: Any) -> Any:
    """A time of the driver as text; without a zone it is UTC, as Graphiti writes it. Texts stay."""
    native = moment.to_native() if hasattr(moment, "to_native") else moment
    if not isinstance(native, datetime):
        return native
    return native.replace(tzinfo=native.tzinfo or UTC).astimezone(UTC).isoformat().replace("+00:00", "Z")
