"""Static types: what is known of an expression's value without any data.

They are inferred from literals, operators, functions and patterns; a property or a parameter may have any type.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A type, with the element type if it is a list."""

    name: str
    item: Kind | None = None

    def __str__(self) -> str:
        return f"list of {self.item}" if self.item is not None and self.item != ANY else self.name


ANY = Kind("any")
NULL = Kind("null")
BOOLEAN = Kind("boolean")
INTEGER = Kind("integer")
FLOAT = Kind("float")
NUMBER = Kind("number")
STRING = Kind("string")
MAP = Kind("map")
NODE = Kind("node")
RELATIONSHIP = Kind("relationship")
PATH = Kind("path")
DURATION = Kind("duration")
POINT = Kind("point")
MOMENTS = {name: Kind(name) for name in ("date", "localtime", "time", "localdatetime", "datetime")}
OPEN = frozenset({"any", "null"})
"""Types that are compatible with everything."""
NUMERIC = frozenset({"integer", "float", "number"})


def list_of(item: Kind = ANY) -> Kind:
    return Kind("list", item)


def parse_kind(name: str) -> Kind:
    """Parse a type name of the function registry: `integer`, `list`, `list<node>`."""
    if name.startswith("list"):
        return list_of(parse_kind(name[5:-1]) if "<" in name else ANY)
    return Kind(name)


def find_common_kind(kinds: list[Kind]) -> Kind:
    """The common supertype of several types."""
    known = {kind for kind in kinds if kind != NULL}
    if len(known) == 1:
        return known.pop()
    if known and all(kind.name in NUMERIC for kind in known):
        return NUMBER
    if known and all(kind.name == "list" for kind in known):
        return list_of()
    return ANY
