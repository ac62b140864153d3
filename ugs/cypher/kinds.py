"""Static kinds: what is known of an expression's value before any data is looked at.

Knowledge comes from literals, operators, functions and patterns only; a property or a parameter may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value, with the kind of its elements when it is a list."""

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
MOMENTS = {name: Kind(name) for name in ("date", "localtime", "time", "localdatetime", "datetime")}
OPEN = frozenset({"any", "null"})
"""Kinds of which nothing is known, so nothing can be wrong."""
NUMERIC = frozenset({"integer", "float", "number"})


def list_of(item: Kind = ANY) -> Kind:
    return Kind("list", item)


def named(name: str) -> Kind:
    """The kind a table of functions calls by name: `integer`, `list`, `list<node>`."""
    if name.startswith("list"):
        return list_of(named(name[5:-1]) if "<" in name else ANY)
    return Kind(name)


def common(kinds: list[Kind]) -> Kind:
    """What can be said of a value that is one of these."""
    known = {kind for kind in kinds if kind != NULL}
    if len(known) == 1:
        return known.pop()
    if known and all(kind.name in NUMERIC for kind in known):
        return NUMBER
    if known and all(kind.name == "list" for kind in known):
        return list_of()
    return ANY
