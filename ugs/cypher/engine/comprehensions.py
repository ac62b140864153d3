"""Compiling expressions with variables of their own: comprehensions, quantifiers, reduce."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.engine.expressions import COMPILERS, ELEMENT_BYTES, compile_expression
from ugs.cypher.engine.run import STEP_BYTES, Row
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.engine.value_limits import check_nested_size
from ugs.cypher.engine.value_size import LIST_BYTES
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.comparison import Ternary
from ugs.cypher.values.type_names import kind_name


def _check_list(value: Any) -> list[Any] | None:
    if value is None or isinstance(value, list):
        return value
    raise CypherTypeError("InvalidArgumentType", f"A list is needed, not {kind_name(value)}")


def _comprehension(tree: s.ListComprehension, env: Env) -> Fn:
    source = compile_expression(tree.source, env)
    inner = env.plus([tree.variable])
    slot = inner[tree.variable]
    where = None if tree.where is None else compile_expression(tree.where, inner)
    projection = None if tree.projection is None else compile_expression(tree.projection, inner)

    def build(row: Row) -> Any:
        items = _check_list(source(row))
        if items is None:
            return None
        found = []
        run = row[0]
        for item in items:
            row[slot] = item
            run.tick()
            before = run.made
            if where is not None:
                kept = where(row) is True
                run.made = before  # temporary values of a condition are released
                if not kept:
                    continue
            found.append(item if projection is None else projection(row))
            if run.made - before > STEP_BYTES:
                run.settle(before, found[-1:])
        run.spend(LIST_BYTES + ELEMENT_BYTES * len(found))
        return check_nested_size(found, run)

    return build


def _combine_all(answers: list[Ternary]) -> Ternary:
    return False if False in answers else None if None in answers else True


def _combine_any(answers: list[Ternary]) -> Ternary:
    return True if True in answers else None if None in answers else False


def _combine_none(answers: list[Ternary]) -> Ternary:
    return False if True in answers else None if None in answers else True


def _combine_single(answers: list[Ternary]) -> Ternary:
    true = answers.count(True)
    return False if true > 1 else None if None in answers else true == 1


COMBINERS: dict[str, Callable[[list[Ternary]], Ternary]] = {
    "all": _combine_all,
    "any": _combine_any,
    "none": _combine_none,
    "single": _combine_single,
}


def _quantifier(tree: s.Quantifier, env: Env) -> Fn:
    source = compile_expression(tree.source, env)
    inner = env.plus([tree.variable])
    slot = inner[tree.variable]
    where, combine = compile_expression(tree.where, inner), COMBINERS[tree.kind]

    def test(row: Row) -> Ternary:
        items = _check_list(source(row))
        if items is None:
            return None
        answers = []
        run = row[0]
        before = run.made
        for item in items:
            row[slot] = item
            run.tick()
            answers.append(where(row))
            run.made = before
        return combine(answers)

    return test


def _reduce(tree: s.Reduce, env: Env) -> Fn:
    initial, source = compile_expression(tree.initial, env), compile_expression(tree.source, env)
    inner = env.plus([tree.accumulator, tree.variable])
    total, slot = inner[tree.accumulator], inner[tree.variable]
    body = compile_expression(tree.body, inner)

    def fold(row: Row) -> Any:
        items = _check_list(source(row))
        if items is None:
            return None
        run = row[0]
        before = run.made
        value = initial(row)
        for item in items:
            row[total], row[slot] = value, item
            run.tick()
            value = body(row)
            if run.made - before > STEP_BYTES:
                run.settle(before, (value,))
        return value

    return fold


COMPILERS.update({s.ListComprehension: _comprehension, s.Quantifier: _quantifier, s.Reduce: _reduce})
