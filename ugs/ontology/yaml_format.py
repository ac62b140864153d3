"""Ontologies as YAML in the seed's form.

The parser treats its input as hostile: no aliases, no tags, bounded depth and length. Every scalar is read as text, so
a type called `no` stays `no`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
import yaml

from ugs.errors import LimitExceeded
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import Plain, PropertyKind
from ugs.support.shape_errors import describe_shape_error
from ugs.values import to_text

MAX_CHARS = 256 << 10
MAX_DEPTH = 8
NUMBER = re.compile(r"-?[0-9]{1,19}(\.[0-9]{1,19})?([eE][-+]?[0-9]{1,3})?")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that other readers of YAML take for something else than text.
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The types that a document describes."""

    node_types: list[str]
    connection_types: list[ConnectionType] = []
    properties: list[TypeProperties] = []


def to_yaml(ontology: Ontology) -> str:
    """The ontology as YAML in the seed's form."""
    lines = ["node_types:" if ontology.node_types else "node_types: []", *_items(ontology.node_types, "  "), ""]
    blocks = ["\n".join(_block(type)) for type in ontology.connection_types]
    lines += ["connection_types:", "\n\n".join(blocks), ""] if blocks else ["connection_types: []", ""]
    if ontology.properties:
        lines += ["properties:", *(line for one in ontology.properties for line in _definitions(one)), ""]
    return "\n".join(lines)


def _block(type: ConnectionType) -> Iterable[str]:
    yield f"  - name: {_scalar(type.name)}"
    for key in ("from_types", "to_types", "required_properties"):
        names = getattr(type, key)
        if names:
            yield f"    {key}:"
            yield from _items(names, "      ")
    if type.acyclic:
        yield "    acyclic: true"


def _definitions(properties: TypeProperties) -> Iterable[str]:
    """The YAML lines of property definitions."""
    yield f"  - owner: {properties.owner.value}"
    yield f"    type: {_scalar(properties.type)}"
    yield "    definitions:"
    for one in properties.definitions:
        yield f"      - name: {_scalar(one.name)}"
        yield f"        kind: {one.kind.value}"
        for key in ("required", "pattern", "default", "description"):
            value = getattr(one, key)
            if value not in (False, None, "") or (key == "default" and value is not None):
                yield f"        {key}: {_value(value)}"
        if one.enum:
            yield "        enum:"
            yield from (f"          - {_value(value)}" for value in one.enum)


def _value(value: Plain) -> str:
    return _scalar(value) if isinstance(value, str) else to_text(value)


def _items(names: Iterable[str], indent: str) -> Iterable[str]:
    return (f"{indent}- {_scalar(name)}" for name in names)


def _scalar(name: str) -> str:
    plain = PLAIN.fullmatch(name) and name.lower() not in WORDS
    return name if plain else to_text(name)


def from_yaml(text: str) -> Document:
    """Parse a document; refused with INVALID_ARGUMENT and the position of the fault."""
    if len(text) > MAX_CHARS:
        raise LimitExceeded(f"an ontology in YAML has at most {MAX_CHARS} characters", limit=MAX_CHARS)
    try:
        _check_events(text)
        return msgspec.convert(_convert_scalars(yaml.load(text, Loader=TextScalarLoader)), Document)
    except yaml.YAMLError as error:
        raise InvalidArgument(f"not valid YAML: {' '.join(str(error).split())[:200]}", argument="yaml") from error
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"not an ontology: {describe_shape_error(error)}", argument="yaml") from error


class TextScalarLoader(yaml.BaseLoader):
    """A YAML loader that reads every scalar as text and refuses duplicate keys."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        if len({str(key) for key in keys}) < len(keys):
            raise InvalidArgument("a key is given twice", argument="yaml")
        return super().construct_mapping(node, deep)


def _check_events(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InvalidArgument("anchors and aliases are not allowed", argument="yaml")
        if getattr(event, "tag", None):
            raise InvalidArgument("tags are not allowed", argument="yaml")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InvalidArgument(f"nested deeper than {MAX_DEPTH}", argument="yaml")


def _convert_scalars(document: Any) -> Any:
    """Convert flags and values from text."""
    for type in _objects(document, "connection_types"):
        _parse_flag(type, "acyclic")
    for told in _objects(document, "properties"):
        for one in _objects(told, "definitions"):
            _parse_flag(one, "required")
            _read_values(one)
    return document


def _objects(holder: Any, key: str) -> list[dict[str, Any]]:
    found = holder.get(key) if isinstance(holder, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _parse_flag(holder: dict[str, Any], key: str) -> None:
    if holder.get(key) in ("true", "false"):
        holder[key] = holder[key] == "true"


def _read_values(definition: dict[str, Any]) -> None:
    """Convert the values of a definition to its kind; what cannot be converted stays text and is refused later."""
    kind = definition.get("kind")
    if "default" in definition:
        definition["default"] = _typed(kind, definition["default"])
    if isinstance(definition.get("enum"), list):
        definition["enum"] = [_typed(kind, value) for value in definition["enum"]]


def _typed(kind: Any, text: Any) -> Any:
    if kind == PropertyKind.BOOLEAN and text in ("true", "false"):
        return text == "true"
    if kind in (PropertyKind.INTEGER, PropertyKind.NUMBER) and isinstance(text, str) and NUMBER.fullmatch(text):
        return int(text) if re.fullmatch(r"-?[0-9]+", text) else float(text)
    return text
