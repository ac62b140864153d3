"""Which behaviour a node has, by its type: ours, and those that others bring by entry point `ugs.actors`."""

from __future__ import annotations

from functools import cache
from typing import cast

from ugs.actors.behaviour import Behaviour
from ugs.actors.knowledge import Knowledge
from ugs.actors.makers import Artifact, Pattern
from ugs.actors.standard import Actor
from ugs.actors.tasks import Task
from ugs.installed import declared, load

GROUP = "ugs.actors"
OURS: dict[str, type[Behaviour]] = {"task": Task, "knowledge": Knowledge, "artifact": Artifact, "pattern": Pattern}
ANY = "*"
"""How the behaviour of all other types is listed."""


@cache
def behaviours() -> dict[str, Behaviour]:
    """Behaviours by node type; an entry point may replace one of ours."""
    theirs = {name: cast(type[Behaviour], load(value)) for name, value in declared(GROUP).items()}
    found = {**OURS, **theirs}
    return {name: kind() for name, kind in found.items()}


@cache
def plain() -> Behaviour:
    """The behaviour of types that nobody has registered."""
    return Actor()


def behaviour_of(type: str | None) -> Behaviour:
    """What a node of this type answers with."""
    return behaviours().get(type or "") or plain()


def actor_types() -> dict[str, list[str]]:
    """The messages that each type handles; `*` stands for all types that are not listed."""
    known = {ANY: plain(), **behaviours()}
    return {name: sorted(behaviour.messages) for name, behaviour in sorted(known.items())}
