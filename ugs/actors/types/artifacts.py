"""Artifacts, which tasks produce, and patterns, from which tasks are made."""

from __future__ import annotations

from string import Template
from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.runtime.message_context import MessageContext
from ugs.actors.types.knowledge import version_of
from ugs.actors.types.standard_messages import Actor
from ugs.actors.types.task_relations import PRODUCES
from ugs.graph.traversal import Direction

REFERENCES = "references"


class WritePayload(Payload, frozen=True):
    content: Any
    format: str | None = None


class ApplyPayload(Payload, frozen=True):
    values: dict[str, str] = {}


class Artifact(Actor):
    """A produced output: content, format, and a version that counts its writings."""

    async def metadata(self, context: MessageContext) -> dict[str, Any]:
        return {"version": version_of(context.properties), "producedBy": await self._producers(context)}

    async def _producers(self, context: MessageContext) -> list[str]:
        return [link.source for link in await context.edges(Direction.INCOMING, PRODUCES)]

    @handles("write", WritePayload)
    async def write(self, context: MessageContext, payload: WritePayload) -> Answer:
        version = version_of(context.properties) + 1 if "content" in context.properties else 1
        context.update(content=payload.content, version=version)
        if payload.format is not None:
            context.update(format=payload.format)
        return {"version": version}

    @handles("read")
    async def read(self, context: MessageContext, payload: object) -> Answer:
        return {
            "content": context.properties.get("content"),
            "format": context.properties.get("format"),
            "version": version_of(context.properties),
            "producedBy": await self._producers(context),
        }


class Pattern(Actor):
    """Something to make nodes from: their `nodeType`, and a `template` of properties in which `$name` is left open."""

    @handles("describe")
    async def describe(self, context: MessageContext, payload: object) -> Answer:
        template = template_of(context)
        return {"nodeType": node_type(context), "template": template, "parameters": sorted(parameters(template))}

    @handles("apply", ApplyPayload)
    async def apply(self, context: MessageContext, payload: ApplyPayload) -> Answer:
        template = template_of(context)
        missing = sorted(parameters(template) - payload.values.keys())
        if missing:
            raise Refused(f"Pattern {context.id} needs values for: {', '.join(missing)}", missing=missing)
        made = context.create(node_type(context), fill_template(template, payload.values))
        context.link(context.id, REFERENCES, source=made)
        return {"nodeId": made}


def template_of(context: MessageContext) -> dict[str, Any]:
    template = context.properties.get("template")
    if not isinstance(template, dict):
        raise Refused(f"Pattern {context.id} has no template")
    return template


def node_type(context: MessageContext) -> str:
    return str(context.properties.get("nodeType") or "task")


def parameters(value: Any) -> set[str]:
    """The names that a template leaves open."""
    if isinstance(value, str):
        return set(Template(value).get_identifiers())
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for item in items for name in parameters(item)}


def fill_template(value: Any, values: dict[str, str]) -> Any:
    """The template with its names replaced."""
    if isinstance(value, str):
        return Template(value).safe_substitute(values)
    if isinstance(value, list):
        return [fill_template(item, values) for item in value]
    return {key: fill_template(item, values) for key, item in value.items()} if isinstance(value, dict) else value
