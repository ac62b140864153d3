"""Keeps the files of a base folder in step with a system.

The log is authoritative. New content is written first, then registry and ontology are replaced, and only then
unreferenced files are removed: at no time does the registry name a missing file. `repair` restores what a crash leaves
incomplete. Following the log costs only what has changed.

A file that cannot be written stops neither the others nor the change itself: it is logged, left out of the registry,
and tried again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from ugs.errors import StorageIOError, UgsError
from ugs.graph.content import bytes_of
from ugs.graph.model import EDGES, NODES, TOMBSTONES, Edge, Node
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.identity import is_identifier
from ugs.log.replay import pages_of
from ugs.ontology.definition import find_ontology
from ugs.ontology.errors import DEFAULT, FileCreationFailed
from ugs.ontology.events import mentions_content
from ugs.ontology.model import CONTENTS, Content
from ugs.ontology.yaml_format import to_yaml
from ugs.reads.filters import any_of, in_
from ugs.storage import EventQuery, Session
from ugs.system import System
from ugs.tables import Row, Table
from ugs_gateway.mirror import folders
from ugs_gateway.mirror.folders import ONTOLOGY, REGISTRY
from ugs_gateway.mirror.import_folder import import_folder
from ugs_gateway.mirror.names import SHORTENED, id_in, path_of
from ugs_gateway.mirror.registry import record, registry_text
from ugs_gateway.observability.structured_logs import Log

CONTENT_FOLDERS = (folders.NODES, folders.CONNECTIONS)
BATCH_ROWS = 500
OURS = re.compile(rf"{re.escape(folders.DRAFT)}|(mem|conn)_[0-9a-z]+_[0-9a-z]+\.[a-z0-9]{{1,10}}$|{SHORTENED.pattern}$")
"""File names that only this module creates: drafts, files of generated ids, and shortened names."""
RETRY_SECONDS = 5.0

log = Log("ugs_gateway.mirror")


class FilesBehind(StorageIOError):
    """The change is committed, but its files could not be written."""

    code = "FILES_BEHIND"
    summary = "The files are not up to date"


class PendingFiles(Struct):
    """The pending changes of the files."""

    nodes: dict[str, Node | None] = {}
    """Elements by id; None for those that are gone."""
    edges: dict[str, Edge | None] = {}
    known: dict[str, Content] = {}
    """What these elements say, new or not."""
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
        self._failed: set[str] = set()
        """Elements whose content could not be written."""
        self._lock = asyncio.Lock()

    def of(self, system: System) -> FileMirror | None:
        """This mirror, if the system is its own, else None."""
        return self if system is self.system else None

    # ── all of it ────────────────────────────────────────────────────────────

    async def repair(self) -> int:
        """Make every file equal to the log and remove unreferenced ones; returns how many were wrong."""
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
        self._nodes, self._edges, self._paths, self._failed = {}, {}, {}, set()
        async with self.system.session() as session:
            self.position = (await session.head()).position
            fixed = await self._all_contents(session)
            known = {one.id: one async for one in _rows(session, CONTENTS) if one.id not in self._failed}
            self._nodes = {node.id: record(node, known.get(node.id)) async for node in _rows(session, NODES)}
            self._edges = {
                edge.id: record(edge, known.get(edge.id))
                async for edge in _rows(session, EDGES)
                if self._is_sound(edge)
            }
            ontology = await find_ontology(session, self.ontology)
            strays = await self._unreferenced(session)
        fixed += await asyncio.to_thread(self._write_lists, None if ontology is None else to_yaml(ontology))
        for path in strays:
            folders.remove_path(self.base, path)
        return fixed + len(strays)

    async def _all_contents(self, session: Session) -> int:
        fixed = 0
        async for portion in pages_of(session, CONTENTS):
            bodies = {one.id: one.body for one in await session.find_many(CONTENT_BODIES, [one.id for one in portion])}
            wanted = {
                one.id: (path_of(one), bytes_of(bodies[one.id], one.encoding)) for one in portion if one.id in bodies
            }
            written, failed = await asyncio.to_thread(self._write_contents, list(wanted.values()))
            fixed += written
            self._failed |= {id for id, (path, _) in wanted.items() if path in failed}
            self._paths |= {id: path for id, (path, _) in wanted.items() if path not in failed}
        return fixed

    def _write_contents(self, wanted: Sequence[tuple[str, bytes]]) -> tuple[int, set[str]]:
        """Write the files that differ; returns how many were written, and which could not be."""
        wrong = [(path, data) for path, data in wanted if folders.read_file(self.base, path) != data]
        failed = {path for path, data in wrong if not self._put(path, data)}
        return len(wrong) - len(failed), failed

    def _put(self, path: str, data: bytes) -> bool:
        """Write a file; False if that file cannot be written. An unusable folder is raised."""
        folder, _, name = path.rpartition("/")
        with folders.open_folder(self.base, folder) as place:
            try:
                folders.replace_in(place, name, data)
            except OSError as error:
                log.warning("a file of the mirror cannot be written", path=path, reason=error.strerror)
                return False
        return True

    def _write_lists(self, ontology: str | None) -> int:
        """Write registry and ontology if they differ."""
        wanted = [(REGISTRY, registry_text(self._nodes, self._edges))]
        wanted += [] if ontology is None else [(ONTOLOGY, ontology.encode())]
        return self._write_contents(wanted)[0]

    async def _unreferenced(self, session: Session) -> list[str]:
        """Files of ours in the content folders that nothing references: drafts, and content of deleted elements."""
        wanted = set(self._paths.values())
        names = [(folder, name) for folder in CONTENT_FOLDERS for name in folders.names_in(self.base, folder)]
        other = [(folder, name) for folder, name in names if f"{folder}/{name}" not in wanted]
        ids = {name: id_in(name) for _, name in other}
        ours = await _ever_used(session, {id for id in ids.values() if is_identifier(id)})
        other += [(folders.SYSTEM, name) for name in folders.names_in(self.base, folders.SYSTEM)]
        return [f"{folder}/{name}" for folder, name in other if OURS.match(name) or ids.get(name) in ours]

    # ── what is new ──────────────────────────────────────────────────────────

    async def update(self, again: bool = False) -> None:
        """Write what has changed since the last call. Calls are serialised, so that an older state never overwrites a
        newer one.

        With `again`, files that could not be written are tried once more.
        """
        async with self._lock:
            try:
                async with self.system.session() as session:
                    position = (await session.head()).position
                    news = await self._news(session, position, self._failed if again else set())
                await asyncio.to_thread(self._write, news)
            except OSError as error:
                raise FilesBehind(
                    f"The change is stored, but its files are not up to date: {error.strerror}"
                ) from error
            self.position = position

    async def _news(self, session: Session, position: int, again: set[str]) -> PendingFiles:
        news = PendingFiles()
        if position == self.position and not again:
            return news
        events = await session.events(EventQuery(after=self.position, until=position))
        touched = {event.element for event in events if event.element and is_identifier(event.element)}
        ids = sorted(touched | again)
        speaking = again | {event.element for event in events if event.element and mentions_content(event.data)}
        for start in range(0, len(ids), BATCH_ROWS):
            await self._elements(session, ids[start : start + BATCH_ROWS], speaking, news)
        if any(event.type.startswith("Ontology") for event in events):
            ontology = await find_ontology(session, self.ontology)
            news.ontology = None if ontology is None else to_yaml(ontology)
        return news

    async def _elements(self, session: Session, ids: list[str], speaking: set[str], news: PendingFiles) -> None:
        nodes: dict[str, Node] = {node.id: node for node in await session.find_many(NODES, ids)}
        # A node that comes or goes decides whether the connections at it have both ends.
        moved = [id for id in ids if (id in nodes) is not (id in self._nodes)]
        around = await session.fetch(EDGES, any_of(in_("source", moved), in_("target", moved))) if moved else []
        edges = {edge.id: edge for edge in (*await session.find_many(EDGES, ids), *around)}
        every = sorted({*ids, *edges})
        contents: dict[str, Content] = {one.id: one for one in await session.find_many(CONTENTS, every)}
        news.known |= contents
        for id in every:
            news.nodes[id] = nodes.get(id)
        for id in every:
            sound = id in edges and all(self._will_be(end, news) for end in (edges[id].source, edges[id].target))
            news.edges[id] = edges[id] if sound else None
        await self._bodies(session, contents, speaking, news)
        news.contents |= {id: None for id in every if id not in contents}

    def _will_be(self, id: str, news: PendingFiles) -> bool:
        return news.nodes[id] is not None if id in news.nodes else id in self._nodes

    async def _bodies(
        self, session: Session, contents: dict[str, Content], speaking: set[str], news: PendingFiles
    ) -> None:
        fresh = [id for id, one in contents.items() if id in speaking or self._paths.get(id) != path_of(one)]
        for body in await session.find_many(CONTENT_BODIES, fresh) if fresh else ():
            one = contents[body.id]
            news.contents[body.id] = (path_of(one), bytes_of(body.body, one.encoding))

    def _write(self, news: PendingFiles) -> None:
        """Write content, then the lists that name it, then remove what nothing names."""
        for id, told in news.contents.items():
            written = told is not None and self._put(*told)
            before = self._paths.pop(id, None)
            if before is not None and (told is None or not written or told[0] != before):
                self._leaving.append(before)
            if told is not None and written:
                self._paths[id] = told[0]
            (self._failed.discard if written or told is None else self._failed.add)(id)
        known = {id: content for id, content in news.known.items() if id not in self._failed}
        _merge(self._nodes, news.nodes, known)
        _merge(self._edges, news.edges, known)
        if news.nodes or news.edges:
            folders.replace(self.base, REGISTRY, registry_text(self._nodes, self._edges))
        if news.ontology is not None:
            folders.replace(self.base, ONTOLOGY, news.ontology.encode())
        while self._leaving:
            folders.remove_path(self.base, self._leaving.pop())

    def _is_sound(self, edge: Edge) -> bool:
        return edge.source in self._nodes and edge.target in self._nodes

    # ── for the interfaces ────────────────────────────────────────────────────────

    @asynccontextmanager
    async def around_change(self, arguments: dict[str, Any]) -> AsyncIterator[None]:
        """Check that the content can be written, let the change happen, and bring the files up to date.

        A stored change is committed: files that cannot follow are logged and tried again, and the caller gets no error.
        """
        content = arguments.get("content")
        if isinstance(content, str):
            of_connection = not arguments.keys().isdisjoint(("connection_id", "from_node_id"))
            place = folders.CONNECTIONS if of_connection else folders.NODES
            await asyncio.to_thread(self._check_writable, place, content.encode(errors="replace"))
        yield
        try:
            await self.update()
        except UgsError as error:
            log.warning("the mirror is behind", reason=error.message)

    def _check_writable(self, folder: str, data: bytes) -> None:
        """Write the content to a temporary file in its folder, so that a full disk refuses a change before it is
        committed.
        """
        try:
            with folders.open_folder(self.base, folder) as place:
                folders.remove(place, folders.write_draft(place, data))
        except OSError as error:
            raise FileCreationFailed(f"The content file could not be created: {error.strerror}") from error

    @asynccontextmanager
    async def following(self) -> AsyncIterator[FileMirror]:
        """Repair the files, and then keep them in step with every change, whatever interface it comes from."""
        with self._in_words():
            warnings = await import_folder(self.base, self.system, self.ontology)
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
                patience = RETRY_SECONDS if self._failed else None
                with suppress(TimeoutError):
                    async with asyncio.timeout(patience):
                        await self.system.bus.wait_beyond(self.position)
                await self.update(again=bool(self._failed))
            except UgsError as error:
                log.warning("the mirror is behind", reason=error.message)
                await asyncio.sleep(RETRY_SECONDS)


async def _rows(session: Session, table: Table) -> AsyncIterator[Row]:
    async for portion in pages_of(session, table):
        for row in portion:
            yield row


async def _ever_used(session: Session, ids: Iterable[str]) -> set[str]:
    """The ids that are or were in use."""
    wanted = sorted(ids)
    found: set[str] = set()
    for table in (TOMBSTONES, NODES, EDGES) if wanted else ():
        found |= {row.id for row in await session.find_many(table, wanted)}
    return found


def _merge(records: dict[str, str], news: Mapping[str, Node | Edge | None], known: Mapping[str, Content]) -> None:
    for id, element in news.items():
        if element is None:
            records.pop(id, None)
        else:
            records[id] = record(element, known.get(id))
