"""Blocks to statements and back.

Each statement carries the block it was made of. `and` and `or` hold branches; their statements carry the outer block
with the number of the group and of the branch, and the inner block inside. `limit` has no statement: it is the limit
of the operation before it.
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
from ugs.programs.blocks.kinds import KINDS, MOST_ROWS
from ugs.programs.blocks.params import Missing, Params
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.errors import BlockInvalid

MOST_BLOCKS = 100
JOINING = {BlockType.AND: Operator.INTERSECT, BlockType.OR: Operator.UNION}


class Block(Struct, frozen=True, omit_defaults=True, rename={"block_type": "blockType"}):
    """One block; only `and` and `or` have branches."""

    block_type: BlockType
    params: dict[str, Any] = {}
    branches: Annotated[list[list[Block]], Meta(max_length=10)] = []


def compile_blocks(raw: object) -> GraphProgram:
    """The program that a list of blocks, as JSON, stands for."""
    try:
        blocks = msgspec.convert(raw, list[Block])
    except (msgspec.ValidationError, RecursionError) as error:
        raise BlockInvalid(0, str(error)) from error
    statements = _compiled(blocks)
    if not statements:
        raise BlockInvalid(0, "a program needs at least one block that does something")
    return GraphProgram(1, statements)


def _compiled(blocks: Sequence[Block]) -> list[Statement]:
    statements: list[Statement] = []
    for index, block in enumerate(blocks):
        if index >= MOST_BLOCKS:
            raise BlockInvalid(index, f"at most {MOST_BLOCKS} blocks")
        try:
            _add(block, statements, index)
        except Missing as missing:
            raise BlockInvalid(index, f"{block.block_type.value}: {missing}") from None
    return statements


def _add(block: Block, statements: list[Statement], index: int) -> None:
    if block.block_type in JOINING:
        statements += _joined(block, index)
    elif block.block_type is BlockType.LIMIT:
        statements[-1:] = [_limited(statements, Params(block.params))]
    else:
        op, operation = KINDS[block.block_type](Params(block.params))
        statements.append(Statement(op, operation, block=BlockAnnotation(block.block_type, block.params)))


def _joined(block: Block, group: int) -> Iterator[Statement]:
    """`or` unites all branches; `and` keeps of the first branch what the others find too (C-101)."""
    if len(block.branches) < 2:
        raise Missing("needs at least two branches")
    for number, branch in enumerate(block.branches):
        for statement in _compiled(branch):
            first = block.block_type is BlockType.AND and number == 0
            op = statement.op if first else JOINING[block.block_type]
            inner = msgspec.to_builtins(statement.block)
            params = {"group": group, "branch": number, "op": statement.op.value, "block": inner}
            yield Statement(op, statement.operation, block=BlockAnnotation(block.block_type, params))


def _limited(statements: Sequence[Statement], params: Params) -> Statement:
    count = params.count("count", MOST_ROWS)
    if count is None or not statements:
        raise Missing("count must be given" if statements else "nothing stands before it")
    operation = statements[-1].operation
    if isinstance(operation, CypherOp):
        return msgspec.structs.replace(statements[-1], operation=CypherOp(operation.query, count))
    if isinstance(operation, ApiOp) and "limit" in ENDPOINTS[operation.endpoint].takes:
        limited = ApiOp(operation.endpoint, {**operation.given, "limit": count})
        return msgspec.structs.replace(statements[-1], operation=limited)
    raise Missing("what stands before it takes no limit")


def blocks_of(program: GraphProgram) -> list[dict[str, Any]]:
    """The blocks a program was made of; refused where a statement has none, or does something else by now."""
    return [msgspec.to_builtins(block) for block in _found(list(enumerate(program.statements)))]


def _found(statements: Sequence[tuple[int, Statement]]) -> list[Block]:
    blocks: list[Block] = []
    for (kind, _), members in groupby(statements, key=_group):
        found = list(members)
        blocks += [_rejoined(kind, found)] if kind in JOINING else _alone(*found[0])
    return blocks


def _group(numbered: tuple[int, Statement]) -> tuple[BlockType, Any]:
    index, statement = numbered
    if statement.block is None:
        raise BlockInvalid(index, "the statement carries no block")
    kind = statement.block.block_type
    return kind, (statement.block.params.get("group") if kind in JOINING else index)


def _alone(index: int, statement: Statement) -> list[Block]:
    """The block of one statement, with the limit that was put on it afterwards."""
    assert statement.block is not None
    block = Block(statement.block.block_type, statement.block.params)
    limit = _limit_of(statement)
    for candidate in ([block], [block, Block(BlockType.LIMIT, {"count": limit})]):
        if _does(candidate, statement):
            return candidate
    raise BlockInvalid(index, "the statement no longer does what its block says")


def _does(blocks: list[Block], statement: Statement) -> bool:
    try:
        (made,) = _compiled(blocks)
    except BlockInvalid:
        return False
    return (made.op, made.operation) == (statement.op, statement.operation)


def _limit_of(statement: Statement) -> Any:
    operation = statement.operation
    if isinstance(operation, CypherOp):
        return operation.limit
    return operation.given.get("limit") if isinstance(operation, ApiOp) else None


def _rejoined(kind: BlockType, members: Sequence[tuple[int, Statement]]) -> Block:
    branches = [list(branch) for _, branch in groupby(members, key=lambda one: _inside(one, "branch"))]
    return Block(kind, {}, [_found([_inner(one) for one in branch]) for branch in branches])


def _inside(numbered: tuple[int, Statement], key: str) -> Any:
    index, statement = numbered
    assert statement.block is not None
    if key not in statement.block.params:
        raise BlockInvalid(index, f"the annotation lacks {key}")
    return statement.block.params[key]


def _inner(numbered: tuple[int, Statement]) -> tuple[int, Statement]:
    """The statement as it stands inside its branch."""
    index, statement = numbered
    try:
        block = msgspec.convert(_inside(numbered, "block"), BlockAnnotation)
        op = Operator(_inside(numbered, "op"))
    except (msgspec.ValidationError, ValueError) as error:
        raise BlockInvalid(index, f"the annotation is broken: {error}") from error
    return index, Statement(op, statement.operation, block=block)
