"""The little of the kernel that reading words needs, loaded when it is first used.

A command that talks to a gateway then starts in a third of the time, because it never loads the kernel at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parse_json(text: str) -> Any:
    """The value of JSON that somebody typed, or E006."""
    from ugs.values import parse_json

    return parse_json(text)


def scope_names() -> list[str]:
    """The scopes there are."""
    from ugs.identity import Scope

    return [scope.value for scope in Scope]


def default_in(config: Mapping[str, Any], name: str) -> Any:
    """A default as the properties of `_system_config` have it."""
    from ugs.graph.queries import default_in

    return default_in(config, name)
