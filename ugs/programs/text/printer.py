"""The printer of the text DSL. Parsing its output gives the same program.

A query that parses back unchanged is printed as it is; any other (with line breaks, comments, or spaces that the parser
would remove) is printed as `@cypher` with a JSON string. Line breaks in labels are not preserved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UnsetType

from ugs.programs.ast import (
    AnyCondition,
    ApiOp,
    BlockAnnotation,
    ConditionalOp,
    CountAtLeast,
    CountAtMost,
    CypherOp,
    GraphProgram,
    HasOntology,
    HasRelationship,
    ParamDeclaration,
    ProgramMetadata,
    Statement,
)
from ugs.programs.errors import ProgramTextError
from ugs.programs.text.cursor import Cursor
from ugs.programs.text.queries import read_query, split_limit
from ugs.programs.validation.query_safety import check_query
from ugs.support.worker_threads import take_turn

INDENT = "  "
BEGINS_QUERY = re.compile(r"(?!IF\b)[A-Za-z]")
PLAIN_KEY = re.compile(r'[^\s="]+')


def print_text(program: GraphProgram) -> str:
    """The program as text."""
    parts = []
    if not isinstance(program.metadata, UnsetType) and (header := list(_header(program.metadata))):
        parts.append("\n".join(header))
    if program.declared:
        parts.append("\n".join(_declaration(one) for one in program.declared))
    parts += ["\n".join(_statement(one, n, "")) for n, one in enumerate(program.statements, 1)]
    return "\n\n".join(parts) + "\n"


def _header(metadata: ProgramMetadata) -> Iterator[str]:
    shown = {
        "Exploration": metadata.name,
        "Description": metadata.description,
        "Author": metadata.author,
        "Created": metadata.created,
    }
    for key, value in shown.items():
        if value and value.strip():
            yield f"-- {key}: {_one_line(value)}"


def _declaration(declared: ParamDeclaration) -> str:
    default = "" if declared.default is None else f" = {_json(declared.default)}"
    return f"@param {declared.name}: {declared.type}{default}"


def _statement(statement: Statement, number: int, indent: str) -> Iterator[str]:
    take_turn()
    if statement.label and statement.label.strip():
        yield f"{indent}-- Step {number}: {_one_line(statement.label)}"
    if statement.block is not None:
        yield f"{indent}-- @block {_annotation(statement.block)}"
    lines = list(_operation(statement, indent))
    lines[0] = f"{indent}{statement.op.value} {lines[0]}"
    lines[-1] += ";"
    yield from lines


def _annotation(block: BlockAnnotation) -> str:
    values = [f"{_key(key)}={_json(value)}" for key, value in block.params.items()]
    return " ".join([block.block_type.value, *values])


def _key(key: str) -> str:
    return key if PLAIN_KEY.fullmatch(key) else _json(key)


def _operation(statement: Statement, indent: str) -> Iterator[str]:
    operation = statement.operation
    if isinstance(operation, CypherOp):
        yield _query(operation)
    elif isinstance(operation, ApiOp):
        yield f"@api {operation.endpoint} {_json(operation.params_or_empty)}"
    else:
        yield from _conditional(operation, indent)


def _query(operation: CypherOp) -> str:
    """The query with its limit, which is appended as LIMIT unless the query has one of its own."""
    query, limit = operation.query, operation.limit
    if limit is None:
        query, limit = split_limit(query)
    elif check_query(query).limited:
        return f"@cypher {_json(query)}{_limit(operation)}"
    text = query if limit is None else f"{query} LIMIT {limit}"
    return text if _reads_back(text, query, limit) else f"@cypher {_json(operation.query)}{_limit(operation)}"


def _limit(operation: CypherOp) -> str:
    return "" if operation.limit is None else f" LIMIT {operation.limit}"


def _reads_back(text: str, query: str, limit: int | None) -> bool:
    """Whether parsing this text gives exactly the query and the limit."""
    if not BEGINS_QUERY.match(text):
        return False
    cursor = Cursor(f"{text};")
    try:
        found = read_query(cursor)
    except ProgramTextError:
        return False
    return cursor.at_end and (found.query, found.limit, found.ended) == (query, limit, True)


def _conditional(operation: ConditionalOp, indent: str) -> Iterator[str]:
    yield f"IF {_condition(operation.condition)} THEN {{"
    yield from _branch(operation.then, indent)
    if operation.otherwise is not None:
        yield f"{indent}}} ELSE {{"
        yield from _branch(operation.otherwise, indent)
    yield f"{indent}}}"


def _branch(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    for number, statement in enumerate(statements, 1):
        yield from _statement(statement, number, indent + INDENT)


def _condition(condition: AnyCondition) -> str:
    test = str(condition.__struct_config__.tag)
    if isinstance(condition, CountAtLeast | CountAtMost):
        return f"{test} {condition.value}"
    if isinstance(condition, HasOntology):
        return f"{test} {_json(condition.ontology)}"
    return f"{test} {_json(condition.type)}" if isinstance(condition, HasRelationship) else test


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())
