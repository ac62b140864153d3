"""Compiling expressions into functions of a row."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import parts, walk
from ugs.cypher.engine.access import get_index, get_property, get_slice, project_map
from ugs.cypher.engine.run import Row
from ugs.cypher.engine.slots import Env, Fn
from ugs.cypher.engine.value_limits import check_nested_size
from ugs.cypher.engine.value_size import ENTRY_BYTES, LIST_BYTES, MAP_BYTES, TEXT_BYTES, text_bytes
from ugs.cypher.errors import CypherArgumentError, CypherError, CypherTypeError
from ugs.cypher.functions import FUNCTIONS
from ugs.cypher.values.arithmetic import OPERATORS, affirm, negate
from ugs.cypher.values.comparison import COMPARISONS, Ternary, contains, equals
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.type_names import kind_name
from ugs.cypher.values.value_types import has_type
from ugs.errors import InvalidSyntax
from ugs.regex.java_pattern import matches

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
        return _variable_property(env[tree.subject.name], key, tree.at)
    subject = compile_expression(tree.subject, env)
    at = tree.at

    def compute(row: Row) -> Any:
        try:
            return get_property(subject(row), key)
        except CypherError as error:
            raise error.place_at(at) from None

    return compute


def _variable_property(slot: int, key: str, at: int) -> Fn:
    def read(row: Row) -> Any:
        subject = row[slot]
        if type(subject) is Node or type(subject) is Relationship:
            return subject.value(key)
        try:
            return get_property(subject, key)
        except CypherError as error:
            raise error.place_at(at) from None

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


LabelPredicate = Callable[[Row, tuple[str, ...]], bool]
"""Whether an element with these labels satisfies a label expression."""


def compile_labels(tree: s.LabelExpression, env: Env) -> LabelPredicate:
    """The predicate of a label expression."""
    if isinstance(tree, s.LabelName):
        name = tree.name
        return lambda row, labels: name in labels
    if isinstance(tree, s.AnyLabel):
        return lambda row, labels: bool(labels)
    if isinstance(tree, s.LabelNot):
        inner = compile_labels(tree.operand, env)
        return lambda row, labels: not inner(row, labels)
    if isinstance(tree, s.DynamicLabels):
        return _dynamic_labels(tree, env)
    tests = [compile_labels(operand, env) for operand in tree.operands]
    if isinstance(tree, s.LabelAnd):
        return lambda row, labels: all(test(row, labels) for test in tests)
    return lambda row, labels: any(test(row, labels) for test in tests)


def _dynamic_labels(tree: s.DynamicLabels, env: Env) -> LabelPredicate:
    value, combine = compile_expression(tree.value, env), all if tree.every else any

    def test(row: Row, labels: tuple[str, ...]) -> bool:
        names = value(row)
        if isinstance(names, str):
            return names in labels
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise CypherTypeError("InvalidArgumentType", f"A dynamic label is a string, not {kind_name(names)}")
        row[0].tick(len(names) // 16)
        return combine(name in labels for name in names)

    return test


def _label_test(tree: s.LabelTest, env: Env) -> Fn:
    subject, accepts = compile_expression(tree.subject, env), compile_labels(tree.labels, env)

    def test(row: Row) -> Ternary:
        found = subject(row)
        if type(found) is Node:
            return accepts(row, found.labels)
        if type(found) is Relationship:
            return accepts(row, (found.type,))
        if found is None:
            return None
        raise CypherTypeError("InvalidArgumentValue", f"{kind_name(found)} has no labels")

    return test


def _type_test(tree: s.TypeTest, env: Env) -> Fn:
    operand, expected, negated = compile_expression(tree.operand, env), tree.type, tree.negated

    def test(row: Row) -> bool:
        value = operand(row)
        if type(value) is list:
            row[0].tick(len(value) // 8)
        return has_type(value, expected) is not negated

    return test


def _normalized_test(tree: s.NormalizedTest, env: Env) -> Fn:
    operand, form, negated = compile_expression(tree.operand, env), tree.form, tree.negated

    def test(row: Row) -> Ternary:
        value = operand(row)
        if not isinstance(value, str):
            return None
        row[0].tick(len(value) // 64)
        return unicodedata.is_normalized(form, value) is not negated  # type: ignore[arg-type]

    return test


def _case_subject(tree: s.CaseSubject, env: Env) -> Fn:
    slot = env[CASE_SUBJECT]
    return lambda row: row[slot]


def _index(tree: s.Index, env: Env) -> Fn:
    subject, index = compile_expression(tree.subject, env), compile_expression(tree.index, env)
    at = tree.at

    def compute(row: Row) -> Any:
        try:
            return get_index(subject(row), index(row))
        except CypherError as error:
            raise error.place_at(at) from None

    return compute


def _slice(tree: s.Slice, env: Env) -> Fn:
    subject = compile_expression(tree.subject, env)
    start = compile_expression(tree.start or s.Literal(0), env)
    end = None if tree.end is None else compile_expression(tree.end, env)
    if end is None:
        return lambda row: _account(get_slice(subject(row), start(row), MAX_SLICE_END), row)
    return lambda row: _account(get_slice(subject(row), start(row), end(row)), row)


def _account(value: Any, row: Row) -> Any:
    """The value; what it takes is counted as work and as memory, so that making more and more of it has an end."""
    kind = type(value)
    if kind is str:
        if len(value) > SHORT_TEXT_CHARS:
            run = row[0]
            run.tick(len(value) // 256)
            run.spend(text_bytes(value))
        else:
            row[0].spend(TEXT_BYTES + len(value))
    elif kind is list:
        run = row[0]
        run.tick(len(value) // 8)
        run.spend(LIST_BYTES + ELEMENT_BYTES * len(value))
    elif kind is dict:
        row[0].spend(MAP_BYTES + ENTRY_BYTES * len(value))
    return value


SHORT_TEXT_CHARS = 512
ELEMENT_BYTES = 40
"""An element of a new list, with the small value that may have been made for it."""


MAX_SLICE_END = 2**63 - 1


def _list(tree: s.ListLiteral, env: Env) -> Fn:
    items = compile_all(tree.items, env)
    size = LIST_BYTES + ELEMENT_BYTES * len(items)

    def build(row: Row) -> Any:
        row[0].spend(size)
        return check_nested_size([item(row) for item in items], row[0])

    return build


def _map(tree: s.MapLiteral, env: Env) -> Fn:
    entries = [(key, compile_expression(value, env)) for key, value in tree.entries]
    size = MAP_BYTES + ENTRY_BYTES * len(entries)

    def build(row: Row) -> Any:
        row[0].spend(size)
        return check_nested_size({key: value(row) for key, value in entries}, row[0])

    return build


def _map_projection(tree: s.MapProjection, env: Env) -> Fn:
    subject = compile_expression(tree.subject, env)
    entries = [(key, None if value is None else compile_expression(value, env)) for key, value in tree.entries]
    everything = tree.everything
    return lambda row: _account_map(project_map(subject(row), everything, entries, row), row)


def _account_map(found: Any, row: Row) -> Any:
    return None if found is None else check_nested_size(_account(found, row), row[0])


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
    apply, at = negate if tree.op == "-" else affirm, tree.at

    def compute(row: Row) -> Any:
        try:
            return apply(operand(row))
        except CypherError as error:
            raise error.place_at(at) from None

    return compute


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
            if not isinstance(have, str) or not isinstance(want, str):
                return None
            if len(have) > SHORT_TEXT_CHARS:
                row[0].tick(len(have) // 256)
            return test(have, want)

        return apply

    return build


def _matches(left: Fn, right: Fn) -> Fn:
    def apply(row: Row) -> Ternary:
        text, pattern = left(row), right(row)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return None
        try:
            return matches(text, pattern, row[0].tick)
        except InvalidSyntax as error:
            raise CypherArgumentError("InvalidArgumentValue", str(error)) from None

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
    if tree.op in ("+", "||"):
        return _plus(left, right, apply, tree.at)
    at = tree.at

    def compute(row: Row) -> Any:
        try:
            return apply(left(row), right(row))
        except CypherError as error:
            raise error.place_at(at) from None

    return compute


def _plus(left: Fn, right: Fn, add: Callable[[Any, Any], Any], at: int) -> Fn:
    """Lists and texts built by + and || count as work, so that growing them step by step has an end."""

    def apply(row: Row) -> Any:
        try:
            found = add(left(row), right(row))
        except CypherError as error:
            raise error.place_at(at) from None
        kind = type(found)
        if kind is str:
            return _account(found, row)
        return check_nested_size(_account(found, row), row[0]) if kind is list else found

    return apply


def _comparison(tree: s.Comparison, env: Env) -> Fn:
    operands = compile_all(tree.operands, env)
    tests = [COMPARISONS[op] for op in tree.ops]
    if len(tests) == 1:
        left, right, test = operands[0], operands[1], tests[0]

        def single(row: Row) -> Ternary:
            mine, theirs = left(row), right(row)
            kind = type(mine)
            if kind is list or kind is dict:
                row[0].check_now()
            return test(mine, theirs)

        return single

    def chain(row: Row) -> Ternary:
        values = [operand(row) for operand in operands]
        row[0].check_now()
        answers = [test(values[n], values[n + 1]) for n, test in enumerate(tests)]
        return False if False in answers else None if None in answers else True

    return chain


def _is_null(tree: s.IsNull, env: Env) -> Fn:
    operand, negated = compile_expression(tree.operand, env), tree.negated
    return lambda row: (operand(row) is None) is not negated


def _case(tree: s.Case, env: Env) -> Fn:
    if any(isinstance(node, s.CaseSubject) for when, _ in tree.branches for node in walk(when)):
        return _extended_case(tree, env)
    branches = [(compile_expression(when, env), compile_expression(then, env)) for when, then in tree.branches]
    default = compile_expression(tree.default or s.Literal(None), env)
    subject = None if tree.subject is None else compile_expression(tree.subject, env)

    def searched(row: Row) -> Any:
        return next((then(row) for when, then in branches if when(row) is True), _NONE)

    def simple(row: Row) -> Any:
        assert subject is not None
        value = subject(row)
        if type(value) is list or type(value) is dict:
            row[0].check_now()
        return next((then(row) for when, then in branches if equals(value, when(row))), _NONE)

    choose = searched if subject is None else simple

    def case(row: Row) -> Any:
        found = choose(row)
        return default(row) if found is _NONE else found

    return case


CASE_SUBJECT = " case"
"""The name of the slot that holds the subject of a CASE whose branches contain operators."""


def _extended_case(tree: s.Case, env: Env) -> Fn:
    """A CASE with operators in its branches: each branch becomes a condition on a slot that holds the subject."""
    assert tree.subject is not None
    subject, inner = compile_expression(tree.subject, env), env.plus([CASE_SUBJECT])
    slot = inner[CASE_SUBJECT]
    conditions = [_case_condition(when) for when, _ in tree.branches]
    branches = [
        (compile_expression(when, inner), compile_expression(then, env))
        for when, (_, then) in zip(conditions, tree.branches, strict=True)
    ]
    default = compile_expression(tree.default or s.Literal(None), env)

    def case(row: Row) -> Any:
        value = subject(row)
        for when, then in branches:
            row[slot] = value
            if when(row) is True:
                return then(row)
        return default(row)

    return case


def _case_condition(when: s.Expression) -> s.Expression:
    """A branch as a condition: a plain value is compared with the subject."""
    subject = s.CaseSubject()
    inside = when.operand if isinstance(when, s.Unary) else when
    return when if next(iter(parts(inside)), None) == subject else s.Comparison((subject, when), ("=",))


_NONE = object()


def _call(tree: s.Call, env: Env) -> Fn:
    found = FUNCTIONS[tree.name]
    arguments = compile_all(tree.arguments, env)
    code, strict, live, at = found.code, found.strict, found.live, tree.at
    if len(arguments) == 1 and strict and not live:
        return _call_of_one(code, arguments[0], at)

    def call(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        for value in values:
            if value is None:
                if strict:
                    return None
            elif type(value) is list or type(value) is dict:
                row[0].check_now()
        try:
            found = code(row[0], *values) if live else code(*values)
        except CypherError as error:
            raise error.place_at(at) from None
        return _account(found, row)

    return call


def _call_of_one(code: Callable[[Any], Any], argument: Fn, at: int) -> Fn:
    def call(row: Row) -> Any:
        value = argument(row)
        if value is None:
            return None
        kind = type(value)
        if kind is list:
            row[0].tick(len(value) // 8)
        elif kind is str and len(value) > SHORT_TEXT_CHARS:
            row[0].tick(len(value) // 64)
        try:
            found = code(value)
        except CypherError as error:
            raise error.place_at(at) from None
        kind = type(found)
        return _account(found, row) if kind is str or kind is list or kind is dict else found

    return call


COMPILERS: dict[type, Compiler] = {
    s.Literal: _literal,
    s.Parameter: _parameter,
    s.Variable: _variable,
    s.Property: _property,
    s.HasLabels: _has_labels,
    s.LabelTest: _label_test,
    s.TypeTest: _type_test,
    s.NormalizedTest: _normalized_test,
    s.CaseSubject: _case_subject,
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
