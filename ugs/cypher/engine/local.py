"""Compiling expressions with variables of their own: comprehensions, quantifiers, reduce."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.expressions import COMPILERS, compile_expression
from ugs.cypher.engine.measure import measured
from ugs.cypher.engine.run import Row
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.comparing import Ternary
from ugs.cypher.values.naming import kind_name


def _items(value: Any) -> list[Any] | None:
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
        items = _items(source(row))
        if items is None:
            return None
        found = []
        for item in items:
            row[slot] = item
            row[0].tick()
            if where is None or where(row) is True:
                found.append(item if projection is None else projection(row))
        return measured(found, row[0])

    return build


def _judge_all(answers: list[Ternary]) -> Ternary:
    return False if False in answers else None if None in answers else True


def _judge_any(answers: list[Ternary]) -> Ternary:
    return True if True in answers else None if None in answers else False


def _judge_none(answers: list[Ternary]) -> Ternary:
    return False if True in answers else None if None in answers else True


def _judge_single(answers: list[Ternary]) -> Ternary:
    true = answers.count(True)
    return False if true > 1 else None if None in answers else true == 1


JUDGES: dict[str, Callable[[list[Ternary]], Ternary]] = {
    "all": _judge_all,
    "any": _judge_any,
    "none": _judge_none,
    "single": _judge_single,
}


def _quantifier(tree: s.Quantifier, env: Env) -> Fn:
    source = compile_expression(tree.source, env)
    inner = env.plus([tree.variable])
    slot = inner[tree.variable]
    where, judge = compile_expression(tree.where, inner), JUDGES[tree.kind]

    def test(row: Row) -> Ternary:
        items = _items(source(row))
        if items is None:
            return None
        answers = []
        for item in items:
            row[slot] = item
            row[0].tick()
            answers.append(where(row))
        return judge(answers)

    return test


def _reduce(tree: s.Reduce, env: Env) -> Fn:
    initial, source = compile_expression(tree.initial, env), compile_expression(tree.source, env)
    inner = env.plus([tree.accumulator, tree.variable])
    total, slot = inner[tree.accumulator], inner[tree.variable]
    body = compile_expression(tree.body, inner)

    def fold(row: Row) -> Any:
        items = _items(source(row))
        if items is None:
            return None
        value = initial(row)
        for item in items:
            row[total], row[slot] = value, item
            row[0].tick()
            value = body(row)
        return value

    return fold


COMPILERS.update({s.ListComprehension: _comprehension, s.Quantifier: _quantifier, s.Reduce: _reduce})
