"""Compiles blocks to statements, and recovers the blocks of a program.

Each statement carries its block as an annotation. `and` and `or` contain branches; their statements carry the outer
block with the numbers of group and branch, and the inner block inside. `limit` has no statement of its own: it is the
limit of the operation before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ugs.programs.ast import (
    ApiOp,
    BlockAnnotation,
    BlockType,
    CypherOp,
    GraphProgram,
    Operator,
    Statement,
)
from ugs.programs.blocks.block_types import COMPILERS, MAX_ROWS
from ugs.programs.blocks.parameters import InvalidParameter, Params
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.errors import BlockInvalid
from ugs.support.shape_errors import describe_shape_error

MAX_BLOCKS = 100
JOINING = {BlockType.AND: Operator.INTERSECT, BlockType.OR: Operator.UNION}


class Block(Struct, frozen=True, omit_defaults=True, rename={"block_type": "blockType"}):
    """One block; only `and` and `or` have branches."""

    block_type: BlockType
    params: dict[str, Any] = {}
    branches: Annotated[list[list[Block]], Meta(max_length=10)] = []


def compile_blocks(raw: object) -> GraphProgram:
    """The program of a list of blocks in JSON."""
    try:
        blocks = msgspec.convert(raw, list[Block])
    except (msgspec.ValidationError, RecursionError) as error:
        raise BlockInvalid(0, describe_shape_error(error)) from error
    statements = _compile(blocks)
    if not statements:
        raise BlockInvalid(0, "a program needs at least one block that does something")
    return GraphProgram(1, statements)


def _compile(blocks: Sequence[Block]) -> list[Statement]:
    statements: list[Statement] = []
    for index, block in enumerate(blocks):
        if index >= MAX_BLOCKS:
            raise BlockInvalid(index, f"at most {MAX_BLOCKS} blocks")
        try:
            _add(block, statements, index)
        except InvalidParameter as missing:
            raise BlockInvalid(index, f"{block.block_type.value}: {missing}") from None
    return statements


def _add(block: Block, statements: list[Statement], index: int) -> None:
    if block.block_type in JOINING:
        statements += _compile_group(block, index)
    elif block.block_type is BlockType.LIMIT:
        statements[-1:] = [_with_limit(statements, Params(block.params))]
    else:
        op, operation = COMPILERS[block.block_type](Params(block.params))
        statements.append(Statement(op, operation, block=BlockAnnotation(block.block_type, block.params)))


def _compile_group(block: Block, group: int) -> Iterator[Statement]:
    """`or` unites all branches; `and` keeps what every branch finds (C-101)."""
    if len(block.branches) < 2:
        raise InvalidParameter("needs at least two branches")
    for number, branch in enumerate(block.branches):
        for statement in _compile(branch):
            first = block.block_type is BlockType.AND and number == 0
            op = statement.op if first else JOINING[block.block_type]
            inner = msgspec.to_builtins(statement.block)
            params = {"group": group, "branch": number, "op": statement.op.value, "block": inner}
            yield Statement(op, statement.operation, block=BlockAnnotation(block.block_type, params))


def _with_limit(statements: Sequence[Statement], params: Params) -> Statement:
    count = params.count("count", MAX_ROWS)
    if count is None or not statements:
        raise InvalidParameter("count must be given" if statements else "nothing stands before it")
    operation = statements[-1].operation
    if isinstance(operation, CypherOp):
        return msgspec.structs.replace(statements[-1], operation=CypherOp(operation.query, count))
    if isinstance(operation, ApiOp) and "limit" in ENDPOINTS[operation.endpoint].takes:
        limited = ApiOp(operation.endpoint, {**operation.params_or_empty, "limit": count})
        return msgspec.structs.replace(statements[-1], operation=limited)
    raise InvalidParameter("what stands before it takes no limit")


def blocks_of(program: GraphProgram) -> list[dict[str, Any]]:
    """The blocks of a program; refused if a statement has no annotation, or was edited since."""
    return [msgspec.to_builtins(block) for block in _recover(list(enumerate(program.statements)))]


def _recover(statements: Sequence[tuple[int, Statement]]) -> list[Block]:
    blocks: list[Block] = []
    for (kind, _), members in groupby(statements, key=_group):
        found = list(members)
        blocks += [_recover_group(kind, found)] if kind in JOINING else _recover_one(*found[0])
    return blocks


def _group(numbered: tuple[int, Statement]) -> tuple[BlockType, Any]:
    index, statement = numbered
    if statement.block is None:
        raise BlockInvalid(index, "the statement carries no block")
    kind = statement.block.block_type
    return kind, (statement.block.params.get("group") if kind in JOINING else index)


def _recover_one(index: int, statement: Statement) -> list[Block]:
    """The block of one statement, with a limit that was added afterwards."""
    assert statement.block is not None
    block = Block(statement.block.block_type, statement.block.params)
    limit = _limit_of(statement)
    for candidate in ([block], [block, Block(BlockType.LIMIT, {"count": limit})]):
        if _is_unchanged(candidate, statement):
            return candidate
    raise BlockInvalid(index, "the statement no longer does what its block says")


def _is_unchanged(blocks: list[Block], statement: Statement) -> bool:
    try:
        (made,) = _compile(blocks)
    except BlockInvalid:
        return False
    return (made.op, made.operation) == (statement.op, statement.operation)


def _limit_of(statement: Statement) -> Any:
    operation = statement.operation
    if isinstance(operation, CypherOp):
        return operation.limit
    return operation.params_or_empty.get("limit") if isinstance(operation, ApiOp) else None


def _recover_group(kind: BlockType, members: Sequence[tuple[int, Statement]]) -> Block:
    branches = [list(branch) for _, branch in groupby(members, key=lambda one: _inside(one, "branch"))]
    return Block(kind, {}, [_recover([_inner(one) for one in branch]) for branch in branches])


def _inside(numbered: tuple[int, Statement], key: str) -> Any:
    index, statement = numbered
    assert statement.block is not None
    if key not in statement.block.params:
        raise BlockInvalid(index, f"the annotation lacks {key}")
    return statement.block.params[key]


def _inner(numbered: tuple[int, Statement]) -> tuple[int, Statement]:
    """The statement as it is inside its branch."""
    index, statement = numbered
    try:
        block = msgspec.convert(_inside(numbered, "block"), BlockAnnotation)
        op = Operator(_inside(numbered, "op"))
    except (msgspec.ValidationError, ValueError) as error:
        raise BlockInvalid(index, f"the annotation is broken: {describe_shape_error(error)}") from error
    return index, Statement(op, statement.operation, block=block)
