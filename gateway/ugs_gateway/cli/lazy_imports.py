"""The few kernel functions that argument parsing needs, imported on first use.

A command that only talks to a gateway never imports the kernel, and starts in a third of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def parse_json(text: str) -> Any:
    """Parse JSON from the command line; refused with E006."""
    from ugs.values import parse_json

    return parse_json(text)


def scope_names() -> list[str]:
    """The names of all scopes."""
    from ugs.identity import Scope

    return [scope.value for scope in Scope]


def default_in(config: Mapping[str, Any], name: str) -> Any:
    """A default from the properties of `_system_config`."""
    from ugs.graph.queries import default_in

    return default_in(config, name)
