"""Tools of the profile `extended` for the property definitions of ontologies."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ugs.ontology.api import Memory
from ugs.ontology.json_schema import to_json_schema
from ugs.ontology.properties import Owner, Plain, PropertyDefinition, PropertyKind
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import ADDS, READS, Json, MemoryTool
from ugs_gateway.mcp.tools.core import DONE


class DefineProperty(inputs.Arguments, frozen=True):
    type_name: Annotated[str, Meta(description="The node type or connection type")]
    name: Annotated[str, Meta(description="The property")]
    kind: Annotated[PropertyKind, Meta(description="What it holds")] = PropertyKind.STRING
    enum: Annotated[list[Plain], Meta(description="The values it may have")] | None = None
    pattern: Annotated[str, Meta(description="What its text must look like")] | None = None
    default: Annotated[Plain, Meta(description="What a new element gets")] | None = None
    description: Annotated[str, Meta(description="What it means")] = ""
    owner: Annotated[Owner, Meta(description="Which kind of type it is")] = Owner.NODE


async def define_property(memory: Memory, arguments: DefineProperty) -> Json:
    definition = PropertyDefinition(
        arguments.name,
        arguments.kind,
        enum=tuple(arguments.enum or ()),
        pattern=arguments.pattern,
        default=arguments.default,
        description=arguments.description,
    )
    await memory.add_properties(arguments.owner, arguments.type_name, [definition])
    return DONE


async def get_json_schema(memory: Memory, arguments: inputs.Nothing) -> Json:
    return {"schema": to_json_schema(await memory.get_ontology())}


ONTOLOGY_TOOLS = (
    MemoryTool(
        "define_property",
        "Define a property",
        "Say what a property of a type must be. It holds for what is created or updated from now on.",
        DefineProperty,
        outputs.SUCCESS,
        ADDS,
        define_property,
        keeps_key=True,
    ),
    MemoryTool(
        "get_json_schema",
        "Ontology as JSON Schema",
        "All types with their property definitions as JSON Schema.",
        inputs.Nothing,
        outputs.record({"schema": {"type": "object"}}),
        READS,
        get_json_schema,
    ),
)
