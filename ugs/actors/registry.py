"""Behaviours by node type: built in, and from the entry points `ugs.actors`."""

from __future__ import annotations

from functools import cache
from typing import cast

from ugs.actors.behaviour import Behaviour
from ugs.actors.types.artifacts import Artifact, Pattern
from ugs.actors.types.knowledge import Knowledge
from ugs.actors.types.standard_messages import Actor
from ugs.actors.types.tasks import Task
from ugs.support.entry_points import declared, load

GROUP = "ugs.actors"
BUILT_IN: dict[str, type[Behaviour]] = {"task": Task, "knowledge": Knowledge, "artifact": Artifact, "pattern": Pattern}
ANY = "*"
"""The key under which the behaviour of all other types is listed."""


@cache
def behaviours() -> dict[str, Behaviour]:
    """Behaviours by node type; an entry point may replace a built-in one."""
    theirs = {name: cast(type[Behaviour], load(value)) for name, value in declared(GROUP).items()}
    found = {**BUILT_IN, **theirs}
    return {name: kind() for name, kind in found.items()}


@cache
def default_behaviour() -> Behaviour:
    """The behaviour of types without a registration."""
    return Actor()


def behaviour_of(type: str | None) -> Behaviour:
    """The behaviour of a node type."""
    return behaviours().get(type or "") or default_behaviour()


def actor_types() -> dict[str, list[str]]:
    """The messages that each type handles; `*` stands for all types that are not listed."""
    known = {ANY: default_behaviour(), **behaviours()}
    return {name: sorted(behaviour.messages) for name, behaviour in sorted(known.items())}
