"""GraphML, which most graph tools read: every property is an attribute with a type, declared before the first node.

Properties with values of several types, and values that XML cannot hold, are written as JSON; the declaration says so.
Files of other tools can be read too: their attributes become properties.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, TextIO
from xml.etree.ElementTree import Element, ParseError, iterparse
from xml.sax.saxutils import escape, quoteattr

from ugs.errors import InvalidSyntax
from ugs.exchange.base import EDGE, NODE, Format, Item, Record, Survey, Writer, content_of, invalid_json, item_of

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
# XML has no word for most control characters, and turns a carriage return into a line break.
INVALID_XML_CHARS = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "long", float: "double"}
JSON_MARK, JSON_NAME = "json", "json-name"
TYPE, DATA, WEIGHT, PROPERTY = "type", "data", "weight", "property"


class Key(NamedTuple):
    """A declared attribute, as it is written."""

    id: str
    kind: str
    """string, boolean, long, double, or json."""


class Attributes(Survey):
    """The survey that collects all attributes and their types."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str], set[str]] = {}

    def inspect(self, item: Item) -> None:
        for role, name, value in attributes_of(item):
            self._kinds.setdefault((item.kind, role, name), set()).add(kind_of(value))

    @property
    def keys(self) -> dict[tuple[str, str, str], Key]:
        """The declarations in a fixed order."""
        found = {}
        for number, place in enumerate(sorted(self._kinds)):
            found[place] = Key(f"{place[1]}_{place[0]}_{number}", common_kind(self._kinds[place]))
        return found


def common_kind(kinds: set[str]) -> str:
    """The narrowest type that holds all of these."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "double" if kinds == {"long", "double"} else JSON_MARK


def attributes_of(item: Item) -> Iterator[tuple[str, str, Any]]:
    """All attributes of an item as (role, name, value)."""
    content = content_of(item)
    for role, usual in ((TYPE, None), (DATA, None), (WEIGHT, 1)):
        if content.get(role, usual) != usual or (role == WEIGHT and item.kind == EDGE):
            yield role, role, content[role]
    for name, value in content["properties"].items():
        yield PROPERTY, name, value


def kind_of(value: Any) -> str:
    """The attribute type of a value."""
    kind = KINDS.get(type(value), JSON_MARK)
    return JSON_MARK if kind == "string" and INVALID_XML_CHARS.search(value) else kind


class GraphmlWriter(Writer):
    """Writes one XML element per item."""

    survey: Attributes
    tail = "  </graph>\n</graphml>\n"

    def begin(self) -> None:
        self.out.write(HEAD)
        for (kind, _, name), key in self.survey.keys.items():
            self.out.write(declare_key(kind, name, key))
        self.out.write('  <graph edgedefault="directed">\n')

    def write_node(self, node: Record) -> None:
        self._element(Item(NODE, node), f'<node id="{node["id"]}"')

    def write_edge(self, edge: Record) -> None:
        self._element(Item(EDGE, edge), f'<edge id="{edge["id"]}" source="{edge["from"]}" target="{edge["to"]}"')

    def _element(self, item: Item, opening: str) -> None:
        texts = []
        for role, name, value in attributes_of(item):
            key = self._keys[item.kind, role, name]
            texts.append(f'      <data key="{key.id}">{format_value(value, key.kind)}</data>\n')
        self.out.write(f"    {opening}>\n{''.join(texts)}    </{item.kind}>\n" if texts else f"    {opening}/>\n")

    @cached_property
    def _keys(self) -> dict[tuple[str, str, str], Key]:
        return self.survey.keys


def declare_key(kind: str, name: str, key: Key) -> str:
    """The declaration of an attribute; a name that XML cannot hold is written as JSON."""
    spoken = json.dumps(name) if INVALID_XML_CHARS.search(name) else name
    marks = [
        mark for mark in (JSON_MARK if key.kind == JSON_MARK else "", "json-name" if spoken != name else "") if mark
    ]
    told = f"<desc>{' '.join(marks)}</desc>" if marks else ""
    typed = "string" if key.kind == JSON_MARK else key.kind
    opening = f'  <key id="{key.id}" for="{kind}" attr.name={quoteattr(spoken)} attr.type="{typed}"'
    return f"{opening}>{told}</key>\n" if told else f"{opening}/>\n"


def format_value(value: Any, kind: str) -> str:
    """A value as the text of an attribute."""
    if kind == "string":
        return escape(value)
    return escape(json.dumps(value, separators=(",", ":"), sort_keys=True))


class DeclaredKey(NamedTuple):
    """A declared attribute, as it is read."""

    role: str
    name: str
    kind: str


def read_items(text: TextIO) -> Iterator[Item]:
    """The items of a file. Parsed elements are discarded at once, so memory stays constant."""
    told: dict[str, DeclaredKey] = {}
    number, above = 0, Element("nothing")
    try:
        for event, element in iterparse(text, events=("start", "end")):
            tag = element.tag.removeprefix(NAMESPACE)
            if event == "start":
                above = element if tag == "graph" else above
            elif tag == "key":
                told[element.get("id", "")] = _parse_key(element)
            elif tag in (NODE, EDGE):
                number += 1
                yield item_of(_record(element, tag, told), f"element {number}")
                above.clear()
    except ParseError as error:
        raise InvalidSyntax(f"not valid XML: {error}") from error


def _parse_key(element: Element) -> DeclaredKey:
    id, name, kind = element.get("id", ""), element.get("attr.name", ""), element.get("attr.type", "string")
    marks = (element.findtext(f"{NAMESPACE}desc") or element.findtext("desc") or "").split()
    role = id.partition("_")[0]
    ours = id.count("_") == 2 and role in (TYPE, DATA, WEIGHT, PROPERTY)
    if not ours:
        role = name if name == TYPE or (name == WEIGHT and element.get("for") == EDGE) else PROPERTY
    spoken = json.loads(name) if JSON_NAME in marks else name
    return DeclaredKey(role, spoken or id, JSON_MARK if JSON_MARK in marks else kind)


def _record(element: Element, tag: str, keys: dict[str, DeclaredKey]) -> Record:
    ends = {"from": element.get("source"), "to": element.get("target")} if tag == EDGE else {}
    given: Record = {"kind": tag, "id": element.get("id"), **ends, "properties": {}}
    for data in element:
        known = keys.get(data.get("key", ""))
        if known is None:
            raise InvalidSyntax(f"the key {data.get('key')!r} of {tag} {given['id']!r} is not announced")
        value = parse_value(data.text or "", known)
        if known.role == PROPERTY:
            given["properties"][known.name] = value
        else:
            given[known.role] = value
    return given


def parse_value(text: str, key: DeclaredKey) -> Any:
    """Parse the text of an attribute by its declared type."""
    if key.kind == "string":
        return text
    if key.kind == "boolean":
        return text.strip() == "true" or text.strip() == "1"
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid_json(f"attribute {key.name}", error) from error


FORMAT = Format("graphml", GraphmlWriter, read_items, Attributes)
