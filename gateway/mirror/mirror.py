"""Keeping the files of a base folder in step with a system.

The log is the truth. New content gets its file first, then registry and ontology are replaced whole, and only then do
files go that nothing names any more: at no moment does the registry name a file that is not there. Whatever a crash
leaves half done, `repair` makes good. Following needs only what the log says has changed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from gateway.logs import Log
from gateway.mirror import folders
from gateway.mirror.folders import ONTOLOGY, REGISTRY
from gateway.mirror.names import id_in, path_of
from gateway.mirror.registry import record, registry_text
from gateway.mirror.taking import take_over
from ugs.catalog import Row, Table
from ugs.errors import StorageIOError, UgsError
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.content import bytes_of
from ugs.graph.model import EDGES, NODES, TOMBSTONES, Edge, Node
from ugs.identity import is_identifier
from ugs.ontology.definition import find_ontology
from ugs.ontology.errors import DEFAULT, FileCreationFailed
from ugs.ontology.events import mentions_content
from ugs.ontology.model import CONTENTS, Content
from ugs.ontology.yaml_text import to_yaml
from ugs.reads.where import any_of, in_
from ugs.replay import pages_of
from ugs.storage import EventQuery, Session
from ugs.system import System

CONTENT_FOLDERS = (folders.NODES, folders.CONNECTIONS)
PORTION = 500
OURS = re.compile(rf"{re.escape(folders.DRAFT)}|(mem|conn)_[0-9a-z]+_[0-9a-z]+\.[a-z0-9]{{1,10}}$")
"""Names that only we give: drafts, and files of ids in the seed's form."""
RETRY_SECONDS = 5.0

log = Log("gateway.mirror")


class FilesBehind(StorageIOError):
    """The change happened, and its files could not be written."""

    code = "E007"
    summary = "The files are not up to date"


class News(Struct):
    """What the files must become."""

    nodes: dict[str, str | None] = {}
    """Records by id; None for those that are gone."""
    edges: dict[str, str | None] = {}
    contents: dict[str, tuple[str, bytes] | None] = {}
    """Path and bytes of content that is new; None where an element says nothing any more."""
    ontology: str | None = None


class FileMirror:
    """The files of one base folder."""

    def __init__(self, base: Path, system: System, ontology: str = DEFAULT) -> None:
        self.base, self.system, self.ontology = base, system, ontology
        self.position = 0
        self._nodes: dict[str, str] = {}
        self._edges: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._leaving: list[str] = []
        """Files that nothing names any more."""
        self._lock = asyncio.Lock()

    def of(self, system: System) -> FileMirror | None:
        """This mirror for its own system; nobody else's files are kept here."""
        return self if system is self.system else None

    # ── all of it ────────────────────────────────────────────────────────────

    async def repair(self) -> int:
        """Make every file what the log says, and remove those that belong to nothing; answers how many were wrong."""
        async with self._lock:
            with self._in_words():
                return await self._repair()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageIOError(f"The files in {self.base} cannot be made good: {error.strerror}") from error

    async def _repair(self) -> int:
        self._nodes, self._edges, self._paths = {}, {}, {}
        async with self.system.session() as session:
            self.position = (await session.head()).position
            fixed = await self._all_contents(session)
            known = {content.id: content async for content in _rows(session, CONTENTS)}
            self._nodes = {node.id: record(node, known.get(node.id)) async for node in _rows(session, NODES)}
            self._edges = {
                edge.id: record(edge, known.get(edge.id))
                async for edge in _rows(session, EDGES)
                if self._is_sound(edge)
            }
            ontology = await find_ontology(session, self.ontology)
            strays = await self._strays(session)
        fixed += await asyncio.to_thread(self._write_lists, None if ontology is None else to_yaml(ontology))
        for path in strays:
            folders.removed(self.base, path)
        return fixed + len(strays)

    async def _all_contents(self, session: Session) -> int:
        fixed = 0
        async for portion in pages_of(session, CONTENTS):
            bodies = {one.id: one.body for one in await session.find_many(CONTENT_BODIES, [one.id for one in portion])}
            wanted = {
                one.id: (path_of(one), bytes_of(bodies[one.id], one.encoding)) for one in portion if one.id in bodies
            }
            fixed += await asyncio.to_thread(self._write_contents, list(wanted.values()))
            self._paths |= {id: path for id, (path, _) in wanted.items()}
        return fixed

    def _write_contents(self, wanted: Sequence[tuple[str, bytes]]) -> int:
        wrong = [(path, data) for path, data in wanted if folders.read(self.base, path) != data]
        for path, data in wrong:
            folders.replace(self.base, path, data)
        return len(wrong)

    def _write_lists(self, ontology: str | None) -> int:
        """Registry and ontology, where they are not yet what they should be."""
        wanted = [(REGISTRY, registry_text(self._nodes, self._edges))]
        wanted += [] if ontology is None else [(ONTOLOGY, ontology.encode())]
        return self._write_contents(wanted)

    async def _strays(self, session: Session) -> list[str]:
        """Files in the content folders that were ours and belong to nothing: drafts, and what deleted elements said."""
        wanted = set(self._paths.values())
        names = [(folder, name) for folder in CONTENT_FOLDERS for name in folders.names_in(self.base, folder)]
        other = [(folder, name) for folder, name in names if f"{folder}/{name}" not in wanted]
        ids = {name: id_in(name) for _, name in other}
        ours = await _ever_known(session, {id for id in ids.values() if is_identifier(id)})
        other += [(folders.SYSTEM, name) for name in folders.names_in(self.base, folders.SYSTEM)]
        return [f"{folder}/{name}" for folder, name in other if OURS.match(name) or ids.get(name) in ours]

    # ── what is new ──────────────────────────────────────────────────────────

    async def update(self) -> None:
        """Write what has changed since the last time; one after another, so that an older state never comes last."""
        async with self._lock:
            try:
                async with self.system.session() as session:
                    position = (await session.head()).position
                    news = await self._news(session, position)
                await asyncio.to_thread(self._write, news)
            except OSError as error:
                raise FilesBehind(
                    f"The change is stored, but its files are not up to date: {error.strerror}"
                ) from error
            self.position = position

    async def _news(self, session: Session, position: int) -> News:
        news = News()
        if position == self.position:
            return news
        events = await session.events(EventQuery(after=self.position, until=position))
        ids = sorted({event.element for event in events if event.element and is_identifier(event.element)})
        speaking = {event.element for event in events if event.element and mentions_content(event.data)}
        for start in range(0, len(ids), PORTION):
            await self._elements(session, ids[start : start + PORTION], speaking, news)
        if any(event.type.startswith("Ontology") for event in events):
            ontology = await find_ontology(session, self.ontology)
            news.ontology = None if ontology is None else to_yaml(ontology)
        return news

    async def _elements(self, session: Session, ids: list[str], speaking: set[str], news: News) -> None:
        nodes: dict[str, Node] = {node.id: node for node in await session.find_many(NODES, ids)}
        # A node that comes or goes decides whether the connections at it have both ends.
        moved = [id for id in ids if (id in nodes) is not (id in self._nodes)]
        around = await session.fetch(EDGES, any_of(in_("source", moved), in_("target", moved))) if moved else []
        edges = {edge.id: edge for edge in (*await session.find_many(EDGES, ids), *around)}
        every = sorted({*ids, *edges})
        contents: dict[str, Content] = {one.id: one for one in await session.find_many(CONTENTS, every)}
        for id in every:
            news.nodes[id] = record(nodes[id], contents.get(id)) if id in nodes else None
        for id in every:
            sound = id in edges and all(self._will_be(end, news) for end in (edges[id].source, edges[id].target))
            news.edges[id] = record(edges[id], contents.get(id)) if sound else None
        await self._bodies(session, contents, speaking, news)
        news.contents |= {id: None for id in every if id not in contents}

    def _will_be(self, id: str, news: News) -> bool:
        return news.nodes[id] is not None if id in news.nodes else id in self._nodes

    async def _bodies(self, session: Session, contents: dict[str, Content], speaking: set[str], news: News) -> None:
        fresh = [id for id, one in contents.items() if id in speaking or self._paths.get(id) != path_of(one)]
        for body in await session.find_many(CONTENT_BODIES, fresh) if fresh else ():
            one = contents[body.id]
            news.contents[body.id] = (path_of(one), bytes_of(body.body, one.encoding))

    def _write(self, news: News) -> None:
        """Content, then the lists that name it, then the end of what nothing names."""
        for id, told in news.contents.items():
            if told is not None:
                folders.replace(self.base, *told)
            before = self._paths.pop(id, None)
            if before is not None and (told is None or told[0] != before):
                self._leaving.append(before)
            if told is not None:
                self._paths[id] = told[0]
        _merge(self._nodes, news.nodes)
        _merge(self._edges, news.edges)
        if news.nodes or news.edges:
            folders.replace(self.base, REGISTRY, registry_text(self._nodes, self._edges))
        if news.ontology is not None:
            folders.replace(self.base, ONTOLOGY, news.ontology.encode())
        while self._leaving:
            folders.removed(self.base, self._leaving.pop())

    def _is_sound(self, edge: Edge) -> bool:
        return edge.source in self._nodes and edge.target in self._nodes

    # ── for the doors ────────────────────────────────────────────────────────

    @asynccontextmanager
    async def around(self, arguments: dict[str, Any]) -> AsyncIterator[None]:
        """Prove that the content can be written, let the change happen, and bring the files up to date."""
        content = arguments.get("content")
        if isinstance(content, str):
            await asyncio.to_thread(self._prove, content.encode(errors="replace"))
        yield
        await self.update()

    def _prove(self, data: bytes) -> None:
        """Write the content to a file of no name, so that a full disk refuses a change before it happens."""
        try:
            with folders.opened(self.base, folders.NODES) as place:
                folders.remove(place, folders.write_draft(place, data))
        except OSError as error:
            raise FileCreationFailed(f"The content file could not be created: {error.strerror}") from error

    @asynccontextmanager
    async def following(self) -> AsyncIterator[FileMirror]:
        """Make the files good, and keep them in step with whatever happens, through any door."""
        with self._in_words():
            warnings = await take_over(self.base, self.system, self.ontology)
        for warning in warnings:
            log.warning(warning.message, code=warning.code)
        await self.repair()
        task = asyncio.create_task(self._follow())
        try:
            yield self
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _follow(self) -> None:
        while True:
            try:
                await self.system.bus.wait_beyond(self.position)
                await self.update()
            except UgsError as error:
                log.warning("the mirror is behind", reason=error.message)
                await asyncio.sleep(RETRY_SECONDS)


async def _rows(session: Session, table: Table) -> AsyncIterator[Row]:
    async for portion in pages_of(session, table):
        for row in portion:
            yield row


async def _ever_known(session: Session, ids: Iterable[str]) -> set[str]:
    """Those ids that are or were in use."""
    wanted = sorted(ids)
    found: set[str] = set()
    for table in (TOMBSTONES, NODES, EDGES) if wanted else ():
        found |= {row.id for row in await session.find_many(table, wanted)}
    return found


def _merge(records: dict[str, str], news: dict[str, str | None]) -> None:
    for id, text in news.items():
        if text is None:
            records.pop(id, None)
        else:
            records[id] = text
