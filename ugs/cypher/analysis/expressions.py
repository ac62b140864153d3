"""Analysis of expressions: all variables are defined, and static types fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.tree_walk import aggregates, has_aggregate, is_aggregate, walk
from ugs.cypher.errors import COMPILE, CypherSyntaxError, CypherTypeError, did_you_mean
from ugs.cypher.functions import FUNCTIONS
from ugs.cypher.functions.aggregates import AGGREGATES, RESULTS, TWO_ARGUMENTS
from ugs.cypher.static_types import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    MAP,
    MOMENTS,
    NULL,
    NUMBER,
    NUMERIC,
    OPEN,
    PATH,
    STRING,
    Kind,
    find_common_kind,
    list_of,
    parse_kind,
)

Scope = dict[str, Kind]
LITERALS = {type(None): NULL, bool: BOOLEAN, int: INTEGER, float: FLOAT, str: STRING}
WITH_KEYS = frozenset({"node", "relationship", "map", "duration", "point", *MOMENTS}) | OPEN
TIMES = frozenset({"duration", *MOMENTS})


def invalid(message: str, at: int) -> CypherSyntaxError:
    return CypherSyntaxError("InvalidArgumentType", message, at)


def undefined_variable(name: str, scope: Scope, at: int) -> CypherSyntaxError:
    hint = did_you_mean(name, scope)
    return CypherSyntaxError("UndefinedVariable", f"The variable {name} is not defined{hint}", at)


def require(kind: Kind, wanted: frozenset[str] | set[str], what: str, at: int) -> None:
    """Refuse a kind that is known and does not fit."""
    if kind.name not in OPEN and kind.name not in wanted:
        raise invalid(f"{what} must be {' or '.join(sorted(wanted))}, not {kind}", at)


def forbid_aggregates(tree: s.Tree, where: str) -> None:
    for found in aggregates(tree):
        raise CypherSyntaxError("InvalidAggregation", f"Aggregation is not possible in {where}", found.at)


def check(tree: s.Expression, scope: Scope, predicate: bool = False) -> Kind:
    """The kind of an expression; `predicate` says that a condition is expected, so that patterns are welcome."""
    if isinstance(tree, s.PatternExpression):
        return _pattern_expression(tree, scope, predicate)
    checker = CHECKERS.get(type(tree))
    if checker is None:
        raise TypeError(f"no rule for {type(tree).__name__}")
    return checker(tree, scope)


def check_condition(tree: s.Expression, scope: Scope, where: str) -> None:
    """WHERE and its kin: a boolean, without aggregation."""
    forbid_aggregates(tree, where)
    require(check(tree, scope, predicate=True), {"boolean"}, "A condition", tree.at)


def _pattern_expression(tree: s.PatternExpression, scope: Scope, predicate: bool) -> Kind:
    from ugs.cypher.analysis.patterns import check_pattern_expression

    if not predicate and not tree.pattern.shortest:
        message = "A pattern is a condition; use EXISTS { … }, COUNT { … } or a pattern comprehension"
        raise CypherSyntaxError("UnexpectedSyntax", message, tree.at)
    check_pattern_expression(tree.pattern, scope)
    if tree.pattern.shortest:
        return PATH if tree.pattern.shortest == "shortestPath" else list_of(PATH)
    return BOOLEAN


def _literal(tree: s.Literal, scope: Scope) -> Kind:
    return LITERALS[type(tree.value)]


def _variable(tree: s.Variable, scope: Scope) -> Kind:
    if tree.name not in scope:
        raise undefined_variable(tree.name, scope, tree.at)
    return scope[tree.name]


def _property(tree: s.Property, scope: Scope) -> Kind:
    kind = check(tree.subject, scope)
    if kind == PATH:
        raise invalid("A path has no properties; look at nodes(…) or relationships(…)", tree.at)
    if kind.name not in WITH_KEYS:
        message = f"{kind} has no properties"
        raise CypherTypeError("InvalidArgumentType", message, tree.at, COMPILE)
    return ANY


def _has_labels(tree: s.HasLabels, scope: Scope) -> Kind:
    require(check(tree.subject, scope), {"node", "relationship"}, "What has labels", tree.at)
    return BOOLEAN


def check_labels(labels: s.LabelExpression, scope: Scope) -> None:
    """Check the computed names of a label expression."""
    for node in walk(labels):
        if isinstance(node, s.DynamicLabels):
            forbid_aggregates(node.value, "a label expression")
            require(check(node.value, scope), {"string", "list"}, "A dynamic label", getattr(node.value, "at", 0))


def _label_test(tree: s.LabelTest, scope: Scope) -> Kind:
    require(check(tree.subject, scope), {"node", "relationship"}, "What has labels", tree.at)
    if any(isinstance(node, s.DynamicLabels) for node in walk(tree.labels)):
        raise CypherSyntaxError("UnexpectedSyntax", "Dynamic labels are possible in patterns of MATCH only", tree.at)
    return BOOLEAN


def _operand_test(tree: s.TypeTest | s.NormalizedTest, scope: Scope) -> Kind:
    check(tree.operand, scope)
    return BOOLEAN


def _case_subject(tree: s.CaseSubject, scope: Scope) -> Kind:
    return ANY


def _index(tree: s.Index, scope: Scope) -> Kind:
    kind, index = check(tree.subject, scope), check(tree.index, scope)
    if kind.name not in OPEN | {"list", "map", "node", "relationship"}:
        raise CypherTypeError("InvalidArgumentType", f"{kind} cannot be indexed", tree.at, COMPILE)
    if kind.name == "list" and index.name not in OPEN | {"integer", "number"}:
        raise CypherTypeError("InvalidArgumentType", f"A list is indexed by an integer, not {index}", tree.at, COMPILE)
    return kind.item or ANY


def _slice(tree: s.Slice, scope: Scope) -> Kind:
    kind = check(tree.subject, scope)
    require(kind, {"list"}, "What is cut", tree.at)
    for bound in (tree.start, tree.end):
        if bound is not None:
            require(check(bound, scope), {"integer", "number"}, "The bound of a slice", bound.at)
    return kind if kind.name == "list" else list_of()


def _list(tree: s.ListLiteral, scope: Scope) -> Kind:
    return list_of(find_common_kind([check(item, scope) for item in tree.items]))


def _map(tree: s.MapLiteral, scope: Scope) -> Kind:
    for _, value in tree.entries:
        check(value, scope)
    return MAP


def _map_projection(tree: s.MapProjection, scope: Scope) -> Kind:
    require(check(tree.subject, scope), {"node", "relationship", "map"}, "What is projected", tree.at)
    for _, value in tree.entries:
        if value is not None:
            check(value, scope)
    return MAP


def _unary(tree: s.Unary, scope: Scope) -> Kind:
    if tree.op == "NOT":
        require(check(tree.operand, scope, predicate=True), {"boolean"}, "The operand of NOT", tree.at)
        return BOOLEAN
    kind = check(tree.operand, scope)
    require(kind, NUMERIC | {"duration"}, f"The operand of {tree.op}", tree.at)
    return kind


def _logical(tree: s.Binary, scope: Scope) -> Kind:
    for operand in (tree.left, tree.right):
        require(check(operand, scope, predicate=True), {"boolean"}, f"An operand of {tree.op}", operand.at)
    return BOOLEAN


def _membership(tree: s.Binary, scope: Scope) -> Kind:
    check(tree.left, scope)
    require(check(tree.right, scope), {"list"}, "What follows IN", tree.right.at)
    return BOOLEAN


def _textual(tree: s.Binary, scope: Scope) -> Kind:
    check(tree.left, scope)
    check(tree.right, scope)
    return BOOLEAN


def _plus(tree: s.Binary, scope: Scope) -> Kind:
    left, right = check(tree.left, scope), check(tree.right, scope)
    if "list" in (left.name, right.name):
        return list_of(find_common_kind([kind.item or ANY if kind.name == "list" else kind for kind in (left, right)]))
    wanted = NUMERIC | TIMES | {"string"}
    for kind, operand in ((left, tree.left), (right, tree.right)):
        require(kind, wanted, "An operand of +", operand.at)
    return STRING if "string" in (left.name, right.name) else _numeric(left, right)


def _numeric(left: Kind, right: Kind) -> Kind:
    if left == INTEGER and right == INTEGER:
        return INTEGER
    if left.name in NUMERIC and right.name in NUMERIC:
        return FLOAT if FLOAT in (left, right) else NUMBER
    return ANY


def _arithmetic(tree: s.Binary, scope: Scope) -> Kind:
    kinds = [check(operand, scope) for operand in (tree.left, tree.right)]
    for kind, operand in zip(kinds, (tree.left, tree.right), strict=True):
        require(kind, NUMERIC | TIMES, f"An operand of {tree.op}", operand.at)
    return FLOAT if tree.op == "^" else _numeric(*kinds)


def _concatenation(tree: s.Binary, scope: Scope) -> Kind:
    left, right = check(tree.left, scope), check(tree.right, scope)
    for kind, operand in ((left, tree.left), (right, tree.right)):
        require(kind, {"string", "list"}, "An operand of ||", operand.at)
    if {left.name, right.name} == {"string", "list"}:
        raise invalid("|| joins two strings or two lists", tree.at)
    if "list" in (left.name, right.name):
        return list_of(find_common_kind([kind.item or ANY for kind in (left, right)]))
    return STRING if "string" in (left.name, right.name) else ANY


BINARIES: dict[str, Callable[[s.Binary, Scope], Kind]] = {
    **dict.fromkeys(("AND", "OR", "XOR"), _logical),
    "IN": _membership,
    **dict.fromkeys(("STARTS WITH", "ENDS WITH", "CONTAINS", "=~"), _textual),
    "+": _plus,
    "||": _concatenation,
    **dict.fromkeys(("-", "*", "/", "%", "^"), _arithmetic),
}


def _binary(tree: s.Binary, scope: Scope) -> Kind:
    return BINARIES[tree.op](tree, scope)


def _comparison(tree: s.Comparison, scope: Scope) -> Kind:
    for operand in tree.operands:
        check(operand, scope)
    return BOOLEAN


def _is_null(tree: s.IsNull, scope: Scope) -> Kind:
    check(tree.operand, scope)
    return BOOLEAN


def _case(tree: s.Case, scope: Scope) -> Kind:
    if tree.subject is not None:
        check(tree.subject, scope)
    for condition, _ in tree.branches:
        check(condition, scope, predicate=tree.subject is None)
    results = [result for _, result in tree.branches] + ([tree.default] if tree.default else [])
    return find_common_kind([check(result, scope) for result in results])


def _items_of(tree: s.Expression, scope: Scope) -> Kind:
    kind = check(tree, scope)
    require(kind, {"list"}, "What follows IN", tree.at)
    return kind.item or ANY


def _comprehension(tree: s.ListComprehension, scope: Scope) -> Kind:
    inner = {**scope, tree.variable: _items_of(tree.source, scope)}
    if tree.where is not None:
        check_condition(tree.where, inner, "a list comprehension")
    if tree.projection is None:
        return list_of(inner[tree.variable])
    forbid_aggregates(tree.projection, "a list comprehension")
    return list_of(check(tree.projection, inner))


def _quantifier(tree: s.Quantifier, scope: Scope) -> Kind:
    inner = {**scope, tree.variable: _items_of(tree.source, scope)}
    check_condition(tree.where, inner, f"{tree.kind}()")
    return BOOLEAN


def _reduce(tree: s.Reduce, scope: Scope) -> Kind:
    check(tree.initial, scope)
    inner = {**scope, tree.accumulator: ANY, tree.variable: _items_of(tree.source, scope)}
    forbid_aggregates(tree.body, "reduce()")
    check(tree.body, inner)
    return ANY


def _pattern_comprehension(tree: s.PatternComprehension, scope: Scope) -> Kind:
    from ugs.cypher.analysis.patterns import bind_patterns

    inner = bind_patterns((tree.pattern,), scope)
    if tree.where is not None:
        check_condition(tree.where, inner, "a pattern comprehension")
    forbid_aggregates(tree.projection, "a pattern comprehension")
    return list_of(check(tree.projection, inner))


def _subquery(tree: s.Subquery, scope: Scope) -> Kind:
    from ugs.cypher.analysis.queries import check_query

    columns = check_query(tree.query, scope, inner=True)
    if tree.kind == "COLLECT" and (columns is None or len(columns) != 1):
        raise CypherSyntaxError("InvalidClauseComposition", "COLLECT { … } must return exactly one column", tree.at)
    return {"EXISTS": BOOLEAN, "COUNT": INTEGER}.get(tree.kind, list_of())


def _call(tree: s.Call, scope: Scope) -> Kind:
    if is_aggregate(tree):
        return _aggregate(tree, scope)
    found = FUNCTIONS.get(tree.name)
    if found is None:
        hint = did_you_mean(tree.written, [*(f.name for f in FUNCTIONS.values()), *AGGREGATES])
        raise CypherSyntaxError("UnknownFunction", f"There is no function {tree.written}(){hint}", tree.at)
    if tree.distinct:
        raise CypherSyntaxError("UnexpectedSyntax", f"{tree.written}() does not aggregate, so no DISTINCT", tree.at)
    _check_count(tree, found.low, found.high)
    for place, argument in enumerate(tree.arguments):
        wanted = found.accepts[min(place, len(found.accepts) - 1)]
        kind = check(argument, scope)
        if wanted:
            require(kind, wanted, f"The argument of {found.name}()", argument.at)
    return parse_kind(found.result)


def _check_count(tree: s.Call, low: int, high: int | None) -> None:
    count = len(tree.arguments)
    if count < low or (high is not None and count > high):
        expected = str(low) if low == high else f"{low} to {high}" if high is not None else f"at least {low}"
        message = f"{tree.written}() takes {expected} arguments, not {count}"
        raise CypherSyntaxError("InvalidNumberOfArguments", message, tree.at)


def _aggregate(tree: s.Call, scope: Scope) -> Kind:
    _check_count(tree, *((2, 2) if tree.name in TWO_ARGUMENTS else (1, 1)))
    kinds = []
    for argument in tree.arguments:
        if has_aggregate(argument):
            raise CypherSyntaxError("NestedAggregation", "An aggregation cannot hold another", argument.at)
        if any(isinstance(node, s.Call) and node.name == "rand" for node in walk(argument)):
            raise CypherSyntaxError("NonConstantExpression", "rand() cannot be aggregated", argument.at)
        kinds.append(check(argument, scope))
    if tree.name in ("min", "max"):
        return kinds[0]
    return list_of(kinds[0]) if tree.name == "collect" else parse_kind(RESULTS.get(tree.name, "any"))


def _count_star(tree: s.CountStar, scope: Scope) -> Kind:
    return INTEGER


def _parameter(tree: s.Parameter, scope: Scope) -> Kind:
    return ANY


CHECKERS: dict[type, Callable[[Any, Scope], Kind]] = {
    s.Literal: _literal,
    s.Parameter: _parameter,
    s.Variable: _variable,
    s.Property: _property,
    s.HasLabels: _has_labels,
    s.LabelTest: _label_test,
    s.TypeTest: _operand_test,
    s.NormalizedTest: _operand_test,
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
    s.ListComprehension: _comprehension,
    s.Quantifier: _quantifier,
    s.Reduce: _reduce,
    s.PatternComprehension: _pattern_comprehension,
    s.Subquery: _subquery,
    s.Call: _call,
    s.CountStar: _count_star,
}
