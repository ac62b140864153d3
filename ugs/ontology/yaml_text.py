"""Ontologies as YAML, in the seed's form: written plainly, read with distrust.

Reading takes no aliases, no tags and nothing deep or endless, and every scalar is text: a type called `no` stays `no`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
import yaml

from ugs.errors import LimitExceeded
from ugs.ontology.definition import ConnectionType, Ontology
from ugs.ontology.errors import InvalidArgument
from ugs.values import to_text

MAX_CHARS = 1 << 20
MAX_DEPTH = 8
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that other readers of YAML take for something else than text.
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a YAML text says."""

    node_types: list[str]
    connection_types: list[ConnectionType] = []


def to_yaml(ontology: Ontology) -> str:
    """The ontology as the seed writes it."""
    lines = ["node_types:" if ontology.node_types else "node_types: []", *_items(ontology.node_types, "  "), ""]
    if not ontology.connection_types:
        return "\n".join([*lines, "connection_types: []", ""])
    blocks = ["\n".join(_block(type)) for type in ontology.connection_types]
    return "\n".join([*lines, "connection_types:", "\n\n".join(blocks), ""])


def _block(type: ConnectionType) -> Iterable[str]:
    yield f"  - name: {_scalar(type.name)}"
    for key in ("from_types", "to_types", "required_properties"):
        names = getattr(type, key)
        if names:
            yield f"    {key}:"
            yield from _items(names, "      ")
    if type.acyclic:
        yield "    acyclic: true"


def _items(names: Iterable[str], indent: str) -> Iterable[str]:
    return (f"{indent}- {_scalar(name)}" for name in names)


def _scalar(name: str) -> str:
    plain = PLAIN.fullmatch(name) and name.lower() not in WORDS
    return name if plain else to_text(name)


def from_yaml(text: str) -> Document:
    """What the text says, or INVALID_ARGUMENT with the place of the mistake."""
    if len(text) > MAX_CHARS:
        raise LimitExceeded(f"an ontology in YAML has at most {MAX_CHARS} characters", limit=MAX_CHARS)
    try:
        _check_events(text)
        return msgspec.convert(_switched(yaml.load(text, Loader=yaml.BaseLoader)), Document)
    except yaml.YAMLError as error:
        raise InvalidArgument(f"not valid YAML: {' '.join(str(error).split())[:200]}", argument="yaml") from error
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"not an ontology: {error}", argument="yaml") from error


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


def _switched(document: Any) -> Any:
    """The one switch there is, read from text."""
    types = document.get("connection_types") if isinstance(document, dict) else None
    for type in types if isinstance(types, list) else ():
        if isinstance(type, dict) and type.get("acyclic") in ("true", "false"):
            type["acyclic"] = type["acyclic"] == "true"
    return document
