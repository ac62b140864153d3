"""A script of CREATE statements, one per line, for any database that runs Cypher; and its reader.

Values that a property of such a database cannot hold (objects, nulls, mixed lists) are stored as JSON in `ugs_json`.
Texts are written as JSON strings, which Cypher accepts. Only scripts of this form can be read, not Cypher in general.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from ugs.errors import InvalidSyntax
from ugs.exchange.base import EDGE, NODE, Format, Item, Record, Writer, item_of
from ugs.values import to_text

REST = "ugs_json"
UNTYPED = "RELATED"
NAME = r"[A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`"
NODE_PATTERN = re.compile(rf"CREATE \((?P<type>:(?:{NAME}))? *")
MATCH_PATTERN = re.compile(r'MATCH \(a \{id: (?P<from>"[^"]*")\}\), \(b \{id: (?P<to>"[^"]*")\}\) ')
RELATIONSHIP_PATTERN = re.compile(rf"CREATE \(a\)-\[:(?P<type>{NAME}) ")
KEY = re.compile(rf"(?P<key>{NAME}): ")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ScriptWriter(Writer):
    """Writes one statement per item."""

    head = "// A graph as Cypher: run it in an empty database, or read it with `ugs import`.\n"

    def write_node(self, node: Record) -> None:
        named = node["type"] is not None and is_writable(node["type"])
        label = f":{quote_name(node['type'])} " if named else ""
        rest = {} if node["data"] is None else {"data": node["data"]}
        typed = {} if named or node["type"] is None else {"type": node["type"]}
        self.out.write(f"CREATE ({label}{_map({'id': node['id']}, node['properties'], {**rest, **typed})});\n")

    def write_edge(self, edge: Record) -> None:
        given = {"id": edge["id"], "weight": edge["weight"]}
        named = edge["type"] is not None and is_writable(edge["type"])
        kind = quote_name(edge["type"]) if named else UNTYPED
        ends = f'MATCH (a {{id: "{edge["from"]}"}}), (b {{id: "{edge["to"]}"}})'
        made = _map(given, edge["properties"], {} if named else {"type": edge["type"]})
        self.out.write(f"{ends} CREATE (a)-[:{kind} {made}]->(b);\n")


def is_writable(name: str) -> bool:
    """Whether a name can stand in backquotes on one line."""
    return bool(name) and "\\" not in name and name.isprintable()


def quote_name(name: str) -> str:
    """A name as Cypher writes it, in backquotes unless it is a plain identifier."""
    return name if PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def unquote_name(name: str) -> str:
    """The name without its backquotes."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _map(given: Record, properties: Record, rest: Record) -> str:
    """A Cypher map of the values that a property can hold; the others as one JSON text."""
    taken = {*given, REST}
    kept = {
        key: value for key, value in properties.items() if key not in taken and is_writable(key) and is_native(value)
    }
    left = {key: value for key, value in properties.items() if key not in kept}
    more = {**rest, **({"properties": left} if left else {})}
    pairs = {**given, **kept, **({REST: to_text(more)} if more else {})}
    return "{" + ", ".join(f"{quote_name(key)}: {to_text(value)}" for key, value in pairs.items()) + "}"


def is_native(value: Any) -> bool:
    """Whether a property of a Cypher database can hold the value."""
    if isinstance(value, list):
        return len({type(item) for item in value}) == 1 and isinstance(value[0], str | bool | int | float)
    return isinstance(value, str | bool | int | float)


def read_items(lines: TextIO) -> Iterator[Item]:
    """The items of a script."""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("//"):
            continue
        try:
            yield _item(text, f"line {number}")
        except (ValueError, RecursionError) as error:
            raise InvalidSyntax(f"line {number}: not a statement that `ugs export` writes: {error}") from error


def _item(text: str, where: str) -> Item:
    if text.startswith("MATCH"):
        return _edge(text, where)
    opening = NODE_PATTERN.match(text)
    if opening is None:
        raise ValueError("CREATE (…); or MATCH … CREATE …; expected")
    properties, end = _read_map(text, opening.end())
    if text[end:] != ");":
        raise ValueError(f"); expected at column {end + 1}")
    rest = _custom_properties(properties)
    kind = rest.get("type") if opening["type"] is None else unquote_name(opening["type"][1:])
    node = {"kind": NODE, "id": properties.pop("id", None), "type": kind, "data": rest.get("data")}
    return item_of({**node, "properties": {**properties, **rest.get("properties", {})}}, where)


def _edge(text: str, where: str) -> Item:
    matching = MATCH_PATTERN.match(text)
    relating = None if matching is None else RELATIONSHIP_PATTERN.match(text, matching.end())
    if matching is None or relating is None:
        raise ValueError("MATCH (a {id: …}), (b {id: …}) CREATE (a)-[:…]->(b); expected")
    properties, end = _read_map(text, relating.end())
    if text[end:] != "]->(b);":
        raise ValueError(f"]->(b); expected at column {end + 1}")
    rest = _custom_properties(properties)
    edge = {
        "kind": EDGE,
        "id": properties.pop("id", None),
        "from": json.loads(matching["from"]),
        "to": json.loads(matching["to"]),
        "type": rest["type"] if "type" in rest else unquote_name(relating["type"]),
        "weight": properties.pop("weight", 1),
    }
    return item_of({**edge, "properties": {**properties, **rest.get("properties", {})}}, where)


def _custom_properties(properties: Record) -> Record:
    rest = json.loads(properties.pop(REST, "{}"))
    if not isinstance(rest, dict) or not isinstance(rest.get("properties", {}), dict):
        raise ValueError(f"{REST} must hold an object")
    return rest


def _read_map(text: str, place: int) -> tuple[Record, int]:
    """Parse the map at a position; returns it and the position behind it."""
    found: Record = {}
    decoder = json.JSONDecoder()
    if text[place : place + 1] != "{":
        raise ValueError(f"{{ expected at column {place + 1}")
    place += 1
    while text[place : place + 1] != "}":
        key = KEY.match(text, place)
        if key is None:
            raise ValueError(f"a key expected at column {place + 1}")
        found[unquote_name(key["key"])], place = decoder.raw_decode(text, key.end())
        place += 2 if text.startswith(", ", place) else 0
    return found, place + 1


FORMAT = Format("cypher", ScriptWriter, read_items)
