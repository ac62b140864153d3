"""The OpenAPI 3.1 document of the program endpoints. Its schema of a program is the specification's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ugs.programs.validation.json_schema import JSON_SCHEMA
from ugs.writer import MAX_KEY

API_VERSION = "1.0.0"
"""The version of this interface; the release is not disclosed to anonymous callers."""
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
INSTANT = {"type": "string", "format": "date-time"}
MAYBE_TEXT = {"type": ["string", "null"]}
NAME = {"type": "string", "minLength": 1, "maxLength": 200}
PARAMS = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
ANY_OBJECT = {"type": "object"}
LOGIN: list[dict[str, list[str]]] = [{"bearer": []}, {}]


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def array_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def record(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON Schema of an object with required and optional fields."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


ISSUE = record(
    {"rule_id": TEXT, "severity": {"enum": ["error", "warning"]}, "message": TEXT},
    {"statement": WHOLE, "field": TEXT, "path": TEXT},
)
STEP = record(
    {
        "statement": WHOLE,
        "path": TEXT,
        "op": {"enum": ["+", "-", "&", "?", "!"]},
        "operation_type": {"enum": ["cypher", "api", "conditional"]},
        "nodes_affected": WHOLE,
        "links_affected": WHOLE,
        "w_size": record({"nodes": WHOLE, "links": WHOLE}),
        "duration_ms": {"type": "number"},
    },
    {"branch_taken": {"enum": ["then", "else"]}},
)
NODE = record({"concept_id": TEXT, "label": TEXT}, {"ontology": TEXT, "description": TEXT, "properties": ANY_OBJECT})
LINK = record(
    {"from_id": TEXT, "to_id": TEXT, "relationship_type": TEXT},
    {
        "category": TEXT,
        "confidence": {"type": "number"},
        "grounding_strength": {"type": "number"},
        "properties": ANY_OBJECT,
    },
)
ABORT = record({"statement": WHOLE, "reason": TEXT}, {"program": WHOLE})
SINGLE = {"program": ref("GraphProgram"), "program_id": {"type": "integer", "minimum": 1}}
STORED = {"id": WHOLE, "name": TEXT, "program": ref("GraphProgram"), "created_at": INSTANT, "updated_at": INSTANT}
OWN_SCHEMAS: dict[str, Any] = {
    "ProgramSubmission": record({"program": ref("GraphProgram")}, {"name": NAME, "system": {"type": "boolean"}}),
    "ProgramChange": {
        "type": "object",
        "properties": {"program": ref("GraphProgram"), "name": NAME},
        "minProperties": 1,
    },
    "DeckEntry": {
        "type": "object",
        "properties": {**SINGLE, "params": PARAMS},
        "oneOf": [{"required": ["program"]}, {"required": ["program_id"]}],
    },
    "ProgramExecution": {
        "type": "object",
        "properties": {
            **SINGLE,
            "params": PARAMS,
            "deck": {**array_of(ref("DeckEntry")), "minItems": 1, "maxItems": 10},
            "view": {"enum": ["GRAPH", "FACTS", "ALL"]},
            "at": {
                "type": "object",
                "properties": {"position": {"type": "integer", "minimum": 0}, "instant": INSTANT},
                "oneOf": [{"required": ["position"]}, {"required": ["instant"]}],
            },
        },
        "oneOf": [{"required": ["program"]}, {"required": ["program_id"]}, {"required": ["deck"]}],
    },
    "ValidationIssue": ISSUE,
    "ValidationResult": record(
        {
            "valid": {"type": "boolean"},
            "errors": array_of(ref("ValidationIssue")),
            "warnings": array_of(ref("ValidationIssue")),
        }
    ),
    "ProgramCreateResponse": record({**STORED, "valid": {"const": True}}),
    "ProgramReadResponse": record({**STORED, "owner_id": MAYBE_TEXT}, {"valid": {"const": True}}),
    "ProgramListItem": record(
        {"id": WHOLE, "name": TEXT, "description": MAYBE_TEXT, "statement_count": WHOLE, "created_at": INSTANT}
    ),
    "RawNode": NODE,
    "RawLink": LINK,
    "WorkingGraph": record({"nodes": array_of(ref("RawNode")), "links": array_of(ref("RawLink"))}),
    "StepLogEntry": STEP,
    "Abort": ABORT,
    "ProgramResult": record(
        {"result": ref("WorkingGraph"), "log": array_of(ref("StepLogEntry"))}, {"aborted": ref("Abort")}
    ),
    "BatchProgramResult": record(
        {"result": ref("WorkingGraph"), "programs": array_of(ref("ProgramResult"))}, {"aborted": ref("Abort")}
    ),
    "Refusal": record({"detail": TEXT, "code": TEXT}),
    "InvalidProgram": record({"detail": record({"error": TEXT, "validation": ref("ValidationResult")})}),
}
REFUSALS = {
    401: "Nobody is known behind the request",
    403: "The caller may not do this",
    404: "There is no such program",
    408: "The body did not arrive in time",
    409: "The stored program was changed behind our back, or the idempotency key belongs to another request",
    413: "The body is too large",
    415: "The body is not plain JSON",
    422: "The request has the wrong shape",
    429: "Too many requests",
    500: "The store failed",
    503: "The store cannot be reached",
}
ALWAYS = (401, 403, 422, 429, 500, 503)
WITH_BODY = (*ALWAYS, 408, 413, 415)
ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The program's number",
    "schema": {"type": "integer", "minimum": 1, "maximum": 10**15},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A retry with the same key is not done twice",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY},
}


NUMBER = "$response.body#/id"
LINKS: dict[str, Any] = {
    "read": {"operationId": "read-a-program", "parameters": {"id": NUMBER}},
    "change": {"operationId": "change-a-program", "parameters": {"id": NUMBER}},
    "delete": {"operationId": "delete-a-program", "parameters": {"id": NUMBER}},
    "run": {"operationId": "run-a-program-or-a-deck", "requestBody": {"program_id": NUMBER}},
}
"""OpenAPI links from a response with a program's id to the operations on it."""


def json_response(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def linked_response(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    """A response with links to the operations on the program it names."""
    return {**json_response(schema, words), "links": LINKS}


def operation(
    summary: str,
    good: Mapping[int, dict[str, Any]],
    refusals: tuple[int, ...] = ALWAYS,
    body: str | None = None,
    parameters: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    """One OpenAPI operation: parameters, body, responses and errors."""
    responses = {str(status): answer for status, answer in good.items()}
    responses |= {str(status): json_response(ref("Refusal"), REFUSALS[status]) for status in refusals}
    found: dict[str, Any] = {"summary": summary, "operationId": summary.lower().replace(" ", "-")}
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": ref(body)}}}
    if parameters:
        found["parameters"] = list(parameters)
    return {**found, "responses": responses}


NOT_JSON = json_response(
    {"oneOf": [ref("InvalidProgram"), ref("Refusal")]}, "The program is not valid, or it is no JSON"
)
ONLY_JSON = json_response(ref("Refusal"), "The body is no JSON")
PATHS: dict[str, Any] = {
    "/programs/validate": {
        "post": operation(
            "Validate a program",
            {200: json_response(ref("ValidationResult"), "What is wrong with it, if anything"), 400: ONLY_JSON},
            WITH_BODY,
            "ProgramSubmission",
        )
    },
    "/programs": {
        "get": operation(
            "List programs",
            {200: json_response(array_of(ref("ProgramListItem")), "Visible programs, newest first")},
            parameters=(
                {"name": "search", "in": "query", "schema": TEXT},
                {
                    "name": "limit",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                },
            ),
        ),
        "post": operation(
            "Store a program",
            {201: linked_response(ref("ProgramCreateResponse"), "The program is notarised"), 400: NOT_JSON},
            (*WITH_BODY, 409),
            "ProgramSubmission",
            (KEY,),
        ),
    },
    "/programs/{id}": {
        "get": operation(
            "Read a program",
            {200: json_response(ref("ProgramReadResponse"), "The notarised program")},
            (*ALWAYS, 404, 409),
            parameters=(ID,),
        ),
        "put": operation(
            "Change a program",
            {200: linked_response(ref("ProgramReadResponse"), "The program as it is now"), 400: NOT_JSON},
            (*WITH_BODY, 404, 409),
            "ProgramChange",
            (ID, KEY),
        ),
        "delete": operation(
            "Delete a program",
            {204: {"description": "It is gone"}, 400: ONLY_JSON},
            (*ALWAYS, 404, 409),
            parameters=(ID, KEY),
        ),
    },
    "/programs/execute": {
        "post": operation(
            "Run a program or a deck",
            {
                200: json_response(
                    {"anyOf": [ref("ProgramResult"), ref("BatchProgramResult")]},
                    "The working graph and the log; `aborted` says why a program stopped",
                ),
                400: NOT_JSON,
            },
            (*WITH_BODY, 404, 409),
            "ProgramExecution",
        )
    },
}


def program_schemas() -> dict[str, Any]:
    """The specification's JSON Schema as components of the document."""
    text = msgspec.json.encode(JSON_SCHEMA).replace(b"#/$defs/", b"#/components/schemas/")
    schema: dict[str, Any] = msgspec.json.decode(text)
    parts: dict[str, Any] = schema.pop("$defs")
    root = {key: value for key, value in schema.items() if not key.startswith("$")}
    return {"GraphProgram": root, **parts}


def openapi_document() -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "UGS Gateway: programs",
            "version": API_VERSION,
            "description": "Bounded query programs over the graph. GraphQL, beside it, does all of this too.",
        },
        "paths": PATHS,
        "components": {
            "schemas": {**program_schemas(), **OWN_SCHEMAS},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": LOGIN,
    }
