"""Artifacts, which tasks produce, and patterns, from which tasks are made."""

from __future__ import annotations

from string import Template
from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.families import PRODUCES
from ugs.actors.knowledge import version_of
from ugs.actors.standard import Actor
from ugs.actors.turn import Turn
from ugs.graph.walk import Direction

REFERENCES = "references"


class WritePayload(Payload, frozen=True):
    content: Any
    format: str | None = None


class ApplyPayload(Payload, frozen=True):
    values: dict[str, str] = {}


class Artifact(Actor):
    """A produced output: content, format, and a version that counts its writings."""

    async def metadata(self, turn: Turn) -> dict[str, Any]:
        return {"version": version_of(turn.properties), "producedBy": await self._producers(turn)}

    async def _producers(self, turn: Turn) -> list[str]:
        return [link.source for link in await turn.edges(Direction.INCOMING, PRODUCES)]

    @handles("write", WritePayload)
    async def write(self, turn: Turn, payload: WritePayload) -> Answer:
        version = version_of(turn.properties) + 1 if "content" in turn.properties else 1
        turn.update(content=payload.content, version=version)
        if payload.format is not None:
            turn.update(format=payload.format)
        return {"version": version}

    @handles("read")
    async def read(self, turn: Turn, payload: object) -> Answer:
        return {
            "content": turn.properties.get("content"),
            "format": turn.properties.get("format"),
            "version": version_of(turn.properties),
            "producedBy": await self._producers(turn),
        }


class Pattern(Actor):
    """Something to make nodes from: their `nodeType`, and a `template` of properties in which `$name` is left open."""

    @handles("describe")
    async def describe(self, turn: Turn, payload: object) -> Answer:
        template = template_of(turn)
        return {"nodeType": node_type(turn), "template": template, "parameters": sorted(parameters(template))}

    @handles("apply", ApplyPayload)
    async def apply(self, turn: Turn, payload: ApplyPayload) -> Answer:
        template = template_of(turn)
        missing = sorted(parameters(template) - payload.values.keys())
        if missing:
            raise Refused(f"Pattern {turn.id} needs values for: {', '.join(missing)}", missing=missing)
        made = turn.create(node_type(turn), filled(template, payload.values))
        turn.link(turn.id, REFERENCES, source=made)
        return {"nodeId": made}


def template_of(turn: Turn) -> dict[str, Any]:
    template = turn.properties.get("template")
    if not isinstance(template, dict):
        raise Refused(f"Pattern {turn.id} has no template")
    return template


def node_type(turn: Turn) -> str:
    return str(turn.properties.get("nodeType") or "task")


def parameters(value: Any) -> set[str]:
    """The names that a template leaves open."""
    if isinstance(value, str):
        return set(Template(value).get_identifiers())
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for item in items for name in parameters(item)}


def filled(value: Any, values: dict[str, str]) -> Any:
    """The template with its names replaced."""
    if isinstance(value, str):
        return Template(value).safe_substitute(values)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    return {key: filled(item, values) for key, item in value.items()} if isinstance(value, dict) else value
