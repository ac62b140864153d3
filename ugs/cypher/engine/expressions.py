"""Compiling expressions into functions of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.engine.access import get_index, get_property, get_slice, project_map
from ugs.cypher.engine.env import Env, Fn
from ugs.cypher.engine.measure import measured
from ugs.cypher.engine.run import Row
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.functions import FUNCTIONS
from ugs.cypher.regex import matches
from ugs.cypher.values.arithmetic import OPERATORS, affirm, negate
from ugs.cypher.values.comparing import COMPARISONS, Ternary, contains, equals
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.naming import kind_name

Compiler = Callable[[Any, Env], Fn]


def compile_expression(tree: s.Expression, env: Env) -> Fn:
    """The function that gives the expression's value for a row."""
    return COMPILERS[type(tree)](tree, env)


def compile_all(trees: tuple[s.Expression, ...], env: Env) -> list[Fn]:
    return [compile_expression(tree, env) for tree in trees]


def _literal(tree: s.Literal, env: Env) -> Fn:
    value = tree.value
    return lambda row: value


def _parameter(tree: s.Parameter, env: Env) -> Fn:
    name = tree.name
    return lambda row: row[0].parameter(name)


def _variable(tree: s.Variable, env: Env) -> Fn:
    slot = env[tree.name]
    return lambda row: row[slot]


def _property(tree: s.Property, env: Env) -> Fn:
    key = tree.key
    if isinstance(tree.subject, s.Variable):
        return _variable_property(env[tree.subject.name], key)
    subject = compile_expression(tree.subject, env)
    return lambda row: get_property(subject(row), key)


def _variable_property(slot: int, key: str) -> Fn:
    def read(row: Row) -> Any:
        subject = row[slot]
        if type(subject) is Node or type(subject) is Relationship:
            return subject.value(key)
        return get_property(subject, key)

    return read


def _has_labels(tree: s.HasLabels, env: Env) -> Fn:
    subject, labels = compile_expression(tree.subject, env), tree.labels

    def test(row: Row) -> Ternary:
        found = subject(row)
        if type(found) is Node:
            return all(label in found.labels for label in labels)
        if type(found) is Relationship:
            return all(label == found.type for label in labels)
        if found is None:
            return None
        raise CypherTypeError("InvalidArgumentValue", f"{kind_name(found)} has no labels")

    return test


def _index(tree: s.Index, env: Env) -> Fn:
    subject, index = compile_expression(tree.subject, env), compile_expression(tree.index, env)
    return lambda row: get_index(subject(row), index(row))


def _slice(tree: s.Slice, env: Env) -> Fn:
    subject = compile_expression(tree.subject, env)
    start = compile_expression(tree.start or s.Literal(0), env)
    end = None if tree.end is None else compile_expression(tree.end, env)
    if end is None:
        return lambda row: get_slice(subject(row), start(row), MAX)
    return lambda row: get_slice(subject(row), start(row), end(row))


MAX = 2**63 - 1


def _list(tree: s.ListLiteral, env: Env) -> Fn:
    items = compile_all(tree.items, env)
    return lambda row: measured([item(row) for item in items], row[0])


def _map(tree: s.MapLiteral, env: Env) -> Fn:
    entries = [(key, compile_expression(value, env)) for key, value in tree.entries]
    return lambda row: measured({key: value(row) for key, value in entries}, row[0])


def _map_projection(tree: s.MapProjection, env: Env) -> Fn:
    subject = compile_expression(tree.subject, env)
    entries = [(key, None if value is None else compile_expression(value, env)) for key, value in tree.entries]
    everything = tree.everything
    return lambda row: _measured_map(project_map(subject(row), everything, entries, row), row)


def _measured_map(found: Any, row: Row) -> Any:
    return None if found is None else measured(found, row[0])


def _boolean(value: Any) -> Ternary:
    if value is None or type(value) is bool:
        return value
    raise CypherTypeError("InvalidArgumentType", f"A condition is a boolean, not {kind_name(value)}")


def _not(operand: Fn) -> Fn:
    def test(row: Row) -> Ternary:
        value = _boolean(operand(row))
        return None if value is None else not value

    return test


def _unary(tree: s.Unary, env: Env) -> Fn:
    operand = compile_expression(tree.operand, env)
    if tree.op == "NOT":
        return _not(operand)
    apply = negate if tree.op == "-" else affirm
    return lambda row: apply(operand(row))


def _and(left: Fn, right: Fn) -> Fn:
    def test(row: Row) -> Ternary:
        first = _boolean(left(row))
        if first is False:
            return False
        second = _boolean(right(row))
        return False if second is False else None if first is None or second is None else True

    return test


def _or(left: Fn, right: Fn) -> Fn:
    def test(row: Row) -> Ternary:
        first = _boolean(left(row))
        if first is True:
            return True
        second = _boolean(right(row))
        return True if second is True else None if first is None or second is None else False

    return test


def _xor(left: Fn, right: Fn) -> Fn:
    def test(row: Row) -> Ternary:
        first, second = _boolean(left(row)), _boolean(right(row))
        return None if first is None or second is None else first is not second

    return test


def _in(left: Fn, right: Fn) -> Fn:
    def test(row: Row) -> Ternary:
        item, values = left(row), right(row)
        if values is None:
            return None
        if not isinstance(values, list):
            raise CypherTypeError("InvalidArgumentType", f"IN looks into a list, not into {kind_name(values)}")
        row[0].tick(len(values) // 16)
        return contains(item, values)

    return test


def _textual(test: Callable[[str, str], Ternary]) -> Callable[[Fn, Fn], Fn]:
    def build(left: Fn, right: Fn) -> Fn:
        def apply(row: Row) -> Ternary:
            have, want = left(row), right(row)
            return test(have, want) if isinstance(have, str) and isinstance(want, str) else None

        return apply

    return build


def _matches(left: Fn, right: Fn) -> Fn:
    def apply(row: Row) -> Ternary:
        text, pattern = left(row), right(row)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return None
        return matches(text, pattern, row[0].tick)

    return apply


CONNECTIVES: dict[str, Callable[[Fn, Fn], Fn]] = {
    "AND": _and,
    "OR": _or,
    "XOR": _xor,
    "IN": _in,
    "STARTS WITH": _textual(str.startswith),
    "ENDS WITH": _textual(str.endswith),
    "CONTAINS": _textual(str.__contains__),
    "=~": _matches,
}


def _binary(tree: s.Binary, env: Env) -> Fn:
    left, right = compile_expression(tree.left, env), compile_expression(tree.right, env)
    if tree.op in CONNECTIVES:
        return CONNECTIVES[tree.op](left, right)
    apply = OPERATORS[tree.op]
    if tree.op == "+":
        return _plus(left, right)
    return lambda row: apply(left(row), right(row))


def _plus(left: Fn, right: Fn) -> Fn:
    """Lists and texts made by + count as work, so that growing them step by step has an end."""
    add = OPERATORS["+"]

    def apply(row: Row) -> Any:
        found = add(left(row), right(row))
        if isinstance(found, list):
            row[0].tick(len(found) // 8)
            return measured(found, row[0])
        if isinstance(found, str):
            row[0].tick(len(found) // 256)
        return found

    return apply


def _comparison(tree: s.Comparison, env: Env) -> Fn:
    operands = compile_all(tree.operands, env)
    tests = [COMPARISONS[op] for op in tree.ops]
    if len(tests) == 1:
        left, right, test = operands[0], operands[1], tests[0]
        return lambda row: test(left(row), right(row))

    def chain(row: Row) -> Ternary:
        values = [operand(row) for operand in operands]
        answers = [test(values[n], values[n + 1]) for n, test in enumerate(tests)]
        return False if False in answers else None if None in answers else True

    return chain


def _is_null(tree: s.IsNull, env: Env) -> Fn:
    operand, negated = compile_expression(tree.operand, env), tree.negated
    return lambda row: (operand(row) is None) is not negated


def _case(tree: s.Case, env: Env) -> Fn:
    branches = [(compile_expression(when, env), compile_expression(then, env)) for when, then in tree.branches]
    default = compile_expression(tree.default or s.Literal(None), env)
    subject = None if tree.subject is None else compile_expression(tree.subject, env)

    def searched(row: Row) -> Any:
        return next((then(row) for when, then in branches if when(row) is True), _NONE)

    def simple(row: Row) -> Any:
        assert subject is not None
        value = subject(row)
        return next((then(row) for when, then in branches if equals(value, when(row))), _NONE)

    choose = searched if subject is None else simple

    def case(row: Row) -> Any:
        found = choose(row)
        return default(row) if found is _NONE else found

    return case


_NONE = object()


def _call(tree: s.Call, env: Env) -> Fn:
    found = FUNCTIONS[tree.name]
    arguments = compile_all(tree.arguments, env)
    code, strict, live = found.code, found.strict, found.live
    if len(arguments) == 1 and strict and not live:
        return _call_of_one(code, arguments[0])

    def call(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        if strict and None in values:
            return None
        found = code(row[0], *values) if live else code(*values)
        if type(found) is list:
            row[0].tick(len(found) // 8)
        return found

    return call


def _call_of_one(code: Callable[[Any], Any], argument: Fn) -> Fn:
    def call(row: Row) -> Any:
        value = argument(row)
        if value is None:
            return None
        found = code(value)
        if type(found) is list:
            row[0].tick(len(found) // 8)
        return found

    return call


COMPILERS: dict[type, Compiler] = {
    s.Literal: _literal,
    s.Parameter: _parameter,
    s.Variable: _variable,
    s.Property: _property,
    s.HasLabels: _has_labels,
    s.Index: _index,
    s.Slice: _slice,
    s.ListLiteral: _list,
    s.MapLiteral: _map,
    s.MapProjection: _map_projection,
    s.Unary: _unary,
    s.Binary: _binary,
    s.Comparison: _comparison,
    s.IsNull: _is_null,
    s.Case: _case,
    s.Call: _call,
}
"""Filled further by the modules for local variables and for subqueries."""
