"""The page for authors of backends lists the capability classes of the port with all their methods."""

from __future__ import annotations

import re

from tests.servers.places import PROJECT
from ugs.storage import Session, Storage, session_capabilities, storage_capabilities

PAGE = (PROJECT / "docs" / "writing-a-backend.md").read_text(encoding="utf-8")


def optional(capability: type) -> set[str]:
    """Public methods and flags that the class itself gives a default."""
    return {name for name in vars(capability) if not name.startswith("_")}


def listed() -> dict[str, set[str]]:
    """The methods by capability class, as the table on the page has them."""
    found: dict[str, set[str]] = {}
    table = PAGE[PAGE.index("| capability class |") :].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        capability, methods = row.split("|")[1:3]
        if name := re.findall(r"`(\w+)`", capability):
            current = found.setdefault(name[0], set())
        current |= set(re.findall(r"`(\w+)`", methods))
    return found


def test_the_table_has_every_capability_class_with_its_methods() -> None:
    modules = (session_capabilities, storage_capabilities)
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    own = {kind for kind in classes if kind.__module__ in {module.__name__ for module in modules}} | {Session, Storage}
    assert listed() == {kind.__name__: optional(kind) for kind in own}


def test_every_capability_class_is_part_of_the_port() -> None:
    for port in (Session, Storage):
        assert all(kind.__name__ in listed() for kind in port.__bases__)
