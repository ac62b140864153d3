"""Folders of Markdown files, such as an Obsidian vault: a note per section, links and front matter as facts.

Folders and files that begin with a dot are left out, and links of the file system are not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ugs.errors import InvalidJSON, StorageIOError
from ugs.facts.commands.ingestion import MAX_ALIASES, MAX_RELATIONS
from ugs.facts.importers.base import Json, RefusedRow, Row, checked, is_value, note, portions, read_text, relation

MAX_FILE_BYTES = 8 << 20
LINKS_TO = "links to"
FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
HEADING = re.compile(r"#{1,6}[ \t]+(.+?)[ \t#]*$")
FENCE = re.compile(r"[ ]{0,3}(```|~~~)")
LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,200})(?:[#^|][^\[\]\n]{0,200})?\]\]")


def read(path: Path) -> Iterator[Row]:
    """The files of a folder in the order of their paths, or one file."""
    if path.is_dir():
        for file in _files(path):
            yield from _file(file, file.relative_to(path).as_posix())
    elif path.is_file():
        yield from _file(path, path.name)
    else:
        raise StorageIOError(f"There is no file and no folder {path}", path=str(path))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place) / name
            if name.lower().endswith((".md", ".markdown")) and not name.startswith(".") and not path.is_symlink():
                yield path


def _file(path: Path, name: str) -> Iterator[Row]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            yield RefusedRow(name, f"it has more than {MAX_FILE_BYTES} bytes")
            return
        text = read_text(path)
    except (StorageIOError, InvalidJSON, OSError) as error:
        yield RefusedRow(name, str(error))
        return
    title = path.stem
    properties, body = _front_matter(text)
    mention = {"canonical": title, "aliases": _aliases(properties)}
    facts = [*_property_facts(title, properties)]
    if facts or mention["aliases"]:
        said = "\n".join(f"{one['predicate']}: {one['object']['value']}" for one in facts)
        yield checked(name, note(f"{title}\n{said}".strip(), f"markdown:{name}", [mention], facts))
    for heading, section in _sections(body):
        for part in portions(section):
            source = f"markdown:{name}" + (f"#{heading}" if heading else "")
            yield checked(source.removeprefix("markdown:"), note(part, source, [mention], _links(title, part)))


def _front_matter(text: str) -> tuple[Json, str]:
    """The properties of a file and the rest of it; what is no object of YAML counts as text."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    try:
        properties = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (properties, text[found.end() :]) if isinstance(properties, dict) else ({}, text)


def _aliases(properties: Json) -> list[str]:
    given = properties.get("aliases", properties.get("alias")) or []
    named = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return [name for name in named if isinstance(name, str) and is_value(name)][:MAX_ALIASES]


def _property_facts(title: str, properties: Json) -> Iterator[Json]:
    for key, value in list(properties.items())[:MAX_RELATIONS]:
        text = _value_text(value)
        if key not in ("aliases", "alias") and is_value(str(key)) and is_value(text):
            yield relation(title, str(key), text, value=True)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, list | dict):
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """The sections by their headings; a heading inside a code fence is text."""
    heading, lines, fence = "", list[str](), ""
    for line in body.splitlines(keepends=True):
        mark = FENCE.match(line)
        if mark is not None:
            fence = mark[1] if not fence else "" if fence == mark[1] else fence
        found = None if fence else HEADING.match(line.rstrip("\r\n"))
        if found is not None:
            yield from _section(heading, lines)
            heading, lines = found[1], []
        lines.append(line)
    yield from _section(heading, lines)


def _section(heading: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    body = lines[1:] if heading else lines
    if "".join(body).strip():
        yield heading, "".join(lines).strip()


def _links(title: str, text: str) -> list[Json]:
    names = dict.fromkeys(name.strip().rpartition("/")[2] for name in LINK.findall(text))
    wanted = [name for name in names if is_value(name) and name != title]
    return [relation(title, LINKS_TO, name) for name in wanted[:MAX_RELATIONS]]
