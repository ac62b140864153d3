"""The JSON Schema of a program, identical to the seed's."""

from __future__ import annotations

from typing import Any

JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://knowledge-graph-system/schemas/graph-program/v1",
    "title": "GraphProgram",
    "type": "object",
    "required": ["version", "statements"],
    "properties": {
        "version": {"const": 1},
        "metadata": {"$ref": "#/$defs/ProgramMetadata"},
        "params": {"type": "array", "items": {"$ref": "#/$defs/ParamDeclaration"}},
        "statements": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Statement"}},
    },
    "$defs": {
        "ProgramMetadata": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "description": {"type": "string"},
                "author": {"enum": ["human", "agent", "system"]},
                "created": {"type": "string", "format": "date-time"},
            },
        },
        "ParamDeclaration": {
            "type": "object",
            "required": ["name", "type"],
            "properties": {"name": {"type": "string"}, "type": {"enum": ["string", "number"]}, "default": {}},
        },
        "Operator": {"enum": ["+", "-", "&", "?", "!"]},
        "Statement": {
            "type": "object",
            "required": ["op", "operation"],
            "properties": {
                "op": {"$ref": "#/$defs/Operator"},
                "operation": {
                    "oneOf": [
                        {"$ref": "#/$defs/CypherOp"},
                        {"$ref": "#/$defs/ApiOp"},
                        {"$ref": "#/$defs/ConditionalOp"},
                    ]
                },
                "label": {"type": "string"},
                "block": {"$ref": "#/$defs/BlockAnnotation"},
            },
        },
        "CypherOp": {
            "type": "object",
            "required": ["type", "query"],
            "properties": {
                "type": {"const": "cypher"},
                "query": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1},
            },
        },
        "ApiOp": {
            "type": "object",
            "required": ["type", "endpoint", "params"],
            "properties": {
                "type": {"const": "api"},
                "endpoint": {"type": "string", "minLength": 1},
                "params": {"type": "object"},
            },
        },
        "ConditionalOp": {
            "type": "object",
            "required": ["type", "condition", "then"],
            "properties": {
                "type": {"const": "conditional"},
                "condition": {"$ref": "#/$defs/Condition"},
                "then": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Statement"}},
                "else": {"type": "array", "items": {"$ref": "#/$defs/Statement"}},
            },
        },
        "Condition": {
            "type": "object",
            "required": ["test"],
            "properties": {
                "test": {
                    "enum": ["has_results", "empty", "count_gte", "count_lte", "has_ontology", "has_relationship"]
                },
                "value": {"type": "number"},
                "ontology": {"type": "string"},
                "type": {"type": "string"},
            },
        },
        "BlockAnnotation": {
            "type": "object",
            "required": ["blockType", "params"],
            "properties": {
                "blockType": {
                    "enum": [
                        "search",
                        "selectConcept",
                        "neighborhood",
                        "pathTo",
                        "filterOntology",
                        "filterEdge",
                        "filterNode",
                        "and",
                        "or",
                        "not",
                        "limit",
                        "vectorSearch",
                        "sourceSearch",
                        "epistemicFilter",
                        "enrich",
                    ]
                },
                "params": {"type": "object"},
            },
        },
    },
}
