"""The file projection of a base path: registry, ontology and content as files that people can read.

The log is the truth. Content is first written to a file of no name, so that a full disk refuses a change before it
happens; then comes the event, then the file gets its name, then registry and ontology are replaced whole. Whatever a
crash leaves half done, `repair` makes good when the server starts.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from ugs.errors import StorageIOError
from ugs.graph.content import bytes_of
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.ontology.api import Memory, iso
from ugs.ontology.definition import find_ontology
from ugs.ontology.errors import FileCreationFailed
from ugs.ontology.model import CONTENT_BODIES, CONTENTS, Content
from ugs.ontology.yaml_text import to_yaml
from ugs.reads.where import in_
from ugs.storage import EventQuery, Session

FOLDERS = ("_system", "_content/nodes", "_content/connections")
DRAFT = ".draft-"
OURS = re.compile(r"(mem|conn)_[0-9a-z]+_[0-9a-z]+\.[a-z0-9]{1,10}")


class FileMirror:
    """Keeps the files of one base path in step with a memory."""

    def __init__(self, base: Path, memory: Memory) -> None:
        self.base, self.memory = base, memory
        self._written: dict[str, Content] = {}
        self._position = 0
        self._lock = asyncio.Lock()

    async def refuse_foreign(self) -> None:
        """Refuse a folder whose registry another program wrote: its content must not be touched."""
        async with self.memory.system.session() as session:
            position = (await session.head()).position
        if position == 0 and (self.base / "_system" / "registry.json").exists():
            raise StorageIOError(
                f"{self.base} holds a registry but no log: another program wrote it. Choose another folder."
            )

    async def repair(self) -> None:
        """Make every file what the log says, and remove those that belong to nothing."""
        await self.refuse_foreign()
        for folder in FOLDERS:
            (self.base / folder).mkdir(parents=True, exist_ok=True)
        for folder in FOLDERS[1:]:
            for draft in (self.base / folder).glob(f"{DRAFT}*"):
                draft.unlink(missing_ok=True)
        self._written = {}
        await self.update()
        wanted = {self.base / content.path for content in self._written.values()}
        for folder in FOLDERS[1:]:
            for path in (self.base / folder).iterdir():
                if path not in wanted and OURS.fullmatch(path.name):
                    path.unlink(missing_ok=True)

    @asynccontextmanager
    async def around(self, arguments: dict[str, Any]) -> AsyncIterator[None]:
        """Prove that the content can be written, let the change happen, and bring the files up to date."""
        draft = self._draft(arguments)
        try:
            yield
        finally:
            if draft is not None:
                draft.unlink(missing_ok=True)
        await self.update()

    def _draft(self, arguments: dict[str, Any]) -> Path | None:
        content = arguments.get("content")
        if not isinstance(content, str):
            return None
        path = self.base / FOLDERS[1] / f"{DRAFT}{token_hex(6)}"
        try:
            path.write_bytes(content.encode(errors="replace"))
        except OSError as error:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            raise FileCreationFailed(f"The content file could not be created: {error.strerror}") from error
        return path

    async def update(self) -> None:
        """Write what has changed since the last time; one after another, so that an older state never comes last."""
        async with self._lock:
            await self._update()

    async def _update(self) -> None:
        try:
            async with self.memory.system.session() as session:
                await self._contents(session)
                nodes, edges = await session.fetch(NODES), await session.fetch(EDGES)
                ontology = await find_ontology(session, self.memory.ontology)
            registry = registry_of(nodes, edges, self._written)
            replace(self.base / "_system" / "registry.json", msgspec.json.format(msgspec.json.encode(registry)) + b"\n")
            if ontology is not None:
                replace(self.base / "_system" / "ontology.yaml", to_yaml(ontology).encode())
        except OSError as error:
            raise FilesBehind(f"The change is stored, but its files are not up to date: {error.strerror}") from error

    async def _contents(self, session: Session) -> None:
        stored: dict[str, Content] = {content.id: content for content in await session.fetch(CONTENTS)}
        changed = await self._changed(session, stored)
        for body in await session.fetch(CONTENT_BODIES, in_("id", changed)) if changed else ():
            content = stored[body.id]
            replace(self.base / content.path, bytes_of(body.body, content.encoding))
        for id, before in self._written.items():
            if id not in stored or stored[id].path != before.path:
                (self.base / before.path).unlink(missing_ok=True)
        self._written = stored

    async def _changed(self, session: Session, stored: dict[str, Content]) -> list[str]:
        """Contents that are new, moved, or written again since."""
        position = (await session.head()).position
        news = await self._touched(session, position)
        self._position = position
        return sorted(id for id in stored if id not in self._written or id in news)

    async def _touched(self, session: Session, position: int) -> set[str]:
        if not self._written or position == self._position:
            return set()
        events = await session.events(EventQuery(after=self._position, until=position))
        return {event.element for event in events if event.element}


class FilesBehind(StorageIOError):
    """The change happened, and its files could not be written."""

    code = "E007"
    summary = "The files are not up to date"


def registry_of(nodes: Iterable[Node], edges: Iterable[Edge], contents: dict[str, Content]) -> dict[str, Any]:
    """The registry as the seed writes it; connections with ends that do not exist stay out of it."""
    known = {node.id: entry(node, {}, contents) for node in nodes}
    sound = [edge for edge in edges if edge.source in known and edge.target in known]
    ends = {edge.id: entry(edge, {"from": edge.source, "to": edge.target}, contents) for edge in sound}
    return {"nodes": known, "connections": ends}


def entry(element: Node | Edge, ends: dict[str, str], contents: dict[str, Content]) -> dict[str, Any]:
    """One record of the registry."""
    told: dict[str, Any] = {
        "id": element.id,
        "type": element.type or "",
        **ends,
        "created": iso(element.created),
        "modified": iso(element.modified),
        "properties": element.properties,
    }
    content = contents.get(element.id)
    if content is not None:
        told["content"] = {"path": content.path, "format": content.format, "encoding": content.encoding}
    return told


def replace(path: Path, data: bytes) -> None:
    """Put a whole file in place of what was there, at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{DRAFT}{token_hex(6)}")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
