"""The result of an operation: the value for programs, and its form for people."""

from __future__ import annotations

from typing import Any, NamedTuple

from ugs_gateway.cli.clients import Record

NODE_KEYS = ("id", "type", "properties", "data", "created", "modified")
EDGE_KEYS = ("id", "from", "to", "type", "weight", "properties", "created")


class Answer(NamedTuple):
    """A value, and the form in which it is shown."""

    kind: str
    """`success`, `element`, `list`, `stats`, `help`, or one of the drawings that only people get."""
    value: Any
    shown: Any = None
    """What people see instead of the value, where they see more."""
    warnings: tuple[Record, ...] = ()
    code: int = 0


def is_edge(element: Record) -> bool:
    """Whether a record is an edge."""
    return "from" in element


def select_keys(element: Record, all: bool = False) -> Record:
    """A record with exactly the seed's keys, or with all."""
    if all:
        return element
    return {key: element[key] for key in (EDGE_KEYS if is_edge(element) else NODE_KEYS)}


def element_answer(element: Record | None, warnings: Any = (), all: bool = False) -> Answer:
    """One element, or null."""
    value = None if element is None else select_keys(element, all)
    return Answer("element", value, element, tuple(warnings))


def list_answer(elements: list[Record], all: bool = False) -> Answer:
    """Elements in order."""
    return Answer("list", [select_keys(element, all) for element in elements], elements)
