"""The unparser: converts the syntax tree back to text, for EXPLAIN, for tests, and for stores that speak Cypher.

The text parses to the same tree. Names are quoted unless they are plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.parser.expressions import build_balanced
from ugs.cypher.parser.token_stream import RESERVED

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED_VALUES = (
    "TRUE FALSE NULL CASE END BY EXISTS COUNT COLLECT ALL ANY NONE INF INFINITY NAN SHORTEST CALL IS USING"
)
KEYWORDS = RESERVED | frozenset(RESERVED_VALUES.split(" "))
LEVELS = {
    "OR": 0,
    "XOR": 1,
    "AND": 2,
    **dict.fromkeys(("IN", "STARTS WITH", "ENDS WITH", "CONTAINS", "=~"), 5),
    **dict.fromkeys(("+", "-", "||"), 6),
    **dict.fromkeys("*/%", 7),
    "^": 8,
}
NOT, COMPARE, SIGN, ATOM = 3, 4, 9, 10
BEGINS_COMPREHENSION = re.compile(r"(?!(?:true|false|null) )(?:[A-Za-z_][A-Za-z0-9_]*|`[^`]*`) IN ")
SPECIAL_CALLS = frozenset({"all", "any", "none", "single", "reduce"})
"""Function names that begin a special form if a variable follows the opening bracket."""
CONNECTIVES = ("AND", "OR", "XOR")
ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def print_name(name: str) -> str:
    """A name, quoted if necessary; one that contains a backtick or backslash is rejected."""
    name = name.strip() if name.startswith(" ") else name
    if PLAIN.fullmatch(name) and name.upper() not in KEYWORDS:
        return name
    if "`" in name or "\\" in name:
        raise CypherSyntaxError("UnexpectedSyntax", f"The name {name[:40]!r} cannot be written")
    return f"`{name}`"


def print_text(text: str) -> str:
    return "'" + "".join(ESCAPES.get(char, char) for char in text) + "'"


def _literal(tree: s.Literal) -> str:
    value = tree.value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return print_text(value) if isinstance(value, str) else repr(value)


def print_expression(tree: s.Expression) -> str:
    return PRINTERS[type(tree)](tree)


def level_of(tree: s.Expression) -> int:
    if isinstance(tree, s.Binary):
        return LEVELS[tree.op]
    if isinstance(tree, s.Unary):
        return NOT if tree.op == "NOT" else SIGN
    if isinstance(tree, s.Comparison | s.IsNull | s.TypeTest | s.NormalizedTest):
        return COMPARE if isinstance(tree, s.Comparison) else LEVELS["IN"]
    negative = isinstance(tree, s.Literal) and isinstance(tree.value, int | float) and str(tree.value).startswith("-")
    return SIGN if negative else ATOM


def within(tree: s.Expression, level: int) -> str:
    """The expression, in brackets if its precedence is lower than the context requires."""
    text = print_expression(tree)
    return text if level_of(tree) >= level else f"({text})"


def _binary(tree: s.Binary) -> str:
    level = LEVELS[tree.op]
    operands = _chained(tree, tree.op) if tree.op in CONNECTIVES else []
    if operands and build_balanced(tree.op, operands) == tree:
        return f" {tree.op} ".join(within(operand, level + 1) for operand in operands)
    return f"{within(tree.left, level)} {tree.op} {within(tree.right, level + 1)}"


def _chained(tree: s.Expression, op: str) -> list[s.Expression]:
    """The operands of a chain of one connective."""
    if isinstance(tree, s.Binary) and tree.op == op:
        return _chained(tree.left, op) + _chained(tree.right, op)
    return [tree]


def _comparison(tree: s.Comparison) -> str:
    text = within(tree.operands[0], COMPARE + 1)
    for op, operand in zip(tree.ops, tree.operands[1:], strict=True):
        text += f" {op} {within(operand, COMPARE + 1)}"
    return text


def _unary(tree: s.Unary) -> str:
    if tree.op == "NOT":
        return f"NOT {within(tree.operand, NOT)}"
    # A literal after a minus would be read as a negative literal.
    inner = within(tree.operand, ATOM)
    return f"{tree.op}({inner})" if isinstance(tree.operand, s.Literal) else f"{tree.op}{inner}"


def _subject(tree: s.Expression) -> str:
    """An expression before a dot or an index, in brackets unless it is simple."""
    simple = isinstance(tree, s.Variable | s.Property | s.Index | s.Slice | s.Call | s.Parameter | s.ListLiteral)
    return print_expression(tree) if simple else f"({print_expression(tree)})"


def _slice(tree: s.Slice) -> str:
    start = "" if tree.start is None else print_expression(tree.start)
    end = "" if tree.end is None else print_expression(tree.end)
    return f"{_subject(tree.subject)}[{start}..{end}]"


def print_labels(labels: s.LabelExpression) -> str:
    """A label expression without its leading colon."""
    if isinstance(labels, s.LabelName):
        return print_name(labels.name)
    if isinstance(labels, s.AnyLabel):
        return "%"
    if isinstance(labels, s.DynamicLabels):
        return f"${'' if labels.every else 'any'}({print_expression(labels.value)})"
    if isinstance(labels, s.LabelNot):
        return f"!{_label_operand(labels.operand)}"
    sign = "&" if isinstance(labels, s.LabelAnd) else "|"
    return sign.join(_label_operand(operand) for operand in labels.operands)


def _label_operand(labels: s.LabelExpression) -> str:
    compound = isinstance(labels, s.LabelAnd | s.LabelOr)
    return f"({print_labels(labels)})" if compound else print_labels(labels)


def print_type(type: s.ValueType) -> str:
    """A value type."""
    if type.options:
        text = f"ANY<{' | '.join(print_type(option) for option in type.options)}>"
    elif type.name == "LIST" and type.item is not None:
        text = f"LIST<{print_type(type.item)}>"
    else:
        text = type.name
    return f"{text} NOT NULL" if type.not_null else text


def _entries(entries: tuple[tuple[str, s.Expression], ...]) -> str:
    return "{" + ", ".join(f"{print_name(key)}: {print_expression(value)}" for key, value in entries) + "}"


def _map_projection(tree: s.MapProjection) -> str:
    parts = [".*"] if tree.everything else []
    for key, value in tree.entries:
        parts.append(f".{print_name(key)}" if value is None else f"{print_name(key)}: {print_expression(value)}")
    return f"{print_expression(tree.subject)} {{{', '.join(parts)}}}"


def _call(tree: s.Call) -> str:
    name = ".".join(print_name(part) for part in (tree.written or tree.name).split("."))
    name = (tree.written or tree.name) if "`" in name else name
    arguments = [print_expression(argument) for argument in tree.arguments]
    if arguments and tree.name in SPECIAL_CALLS:
        arguments[0] = f"({arguments[0]})"
    return f"{name}({'DISTINCT ' if tree.distinct else ''}{', '.join(arguments)})"


def _list(tree: s.ListLiteral) -> str:
    """A list; a first item that would parse as the beginning of a comprehension is put in brackets."""
    items = [print_expression(item) for item in tree.items]
    if items and BEGINS_COMPREHENSION.match(items[0]):
        items[0] = f"({items[0]})"
    return f"[{', '.join(items)}]"


def _case(tree: s.Case) -> str:
    text = "CASE" if tree.subject is None else f"CASE {print_expression(tree.subject)}"
    for when, then in tree.branches:
        text += f" WHEN {_case_condition(when)} THEN {print_expression(then)}"
    if tree.default is not None:
        text += f" ELSE {print_expression(tree.default)}"
    return f"{text} END"


def _case_condition(when: s.Expression) -> str:
    """A branch of CASE; the operand that stands for its subject is not written."""
    subject = s.CaseSubject()
    if isinstance(when, s.Comparison) and when.operands[0] == subject:
        pairs = zip(when.ops, when.operands[1:], strict=True)
        return " ".join(f"{op} {within(operand, COMPARE + 1)}" for op, operand in pairs)
    if isinstance(when, s.Binary) and when.left == subject:
        return f"{when.op} {within(when.right, LEVELS[when.op] + 1)}"
    negated = isinstance(when, s.Unary) and when.op == "NOT"
    test = when.operand if isinstance(when, s.Unary) and negated else when
    if isinstance(test, s.LabelTest | s.HasLabels) and test.subject == subject:
        return f"IS {'NOT ' if negated else ''}{_label_text(test)[1:]}"
    if isinstance(when, s.IsNull | s.TypeTest | s.NormalizedTest) and when.operand == subject:
        return _is_test(when)
    return print_expression(when)


def _label_text(tree: s.LabelTest | s.HasLabels) -> str:
    if isinstance(tree, s.HasLabels):
        return "".join(":" + print_name(label) for label in tree.labels)
    return f":{print_labels(tree.labels)}"


def _print_label_test(tree: s.LabelTest | s.HasLabels) -> str:
    return f"{_subject(tree.subject)}{_label_text(tree)}"


def _is_test(tree: s.IsNull | s.TypeTest | s.NormalizedTest) -> str:
    """What follows the operand of IS."""
    negated = "NOT " if tree.negated else ""
    if isinstance(tree, s.TypeTest):
        return f"IS {negated}:: {print_type(tree.type)}"
    return f"IS {negated}{'NULL' if isinstance(tree, s.IsNull) else f'{tree.form} NORMALIZED'}"


def _print_is(tree: s.IsNull | s.TypeTest | s.NormalizedTest) -> str:
    return f"{within(tree.operand, LEVELS['IN'])} {_is_test(tree)}"


def _tail(where: s.Expression | None, projection: s.Expression | None) -> str:
    text = "" if where is None else f" WHERE {print_expression(where)}"
    return text if projection is None else f"{text} | {print_expression(projection)}"


def _comprehension(tree: s.ListComprehension) -> str:
    source = f"{print_name(tree.variable)} IN {print_expression(tree.source)}"
    return f"[{source}{_tail(tree.where, tree.projection)}]"


def _quantifier(tree: s.Quantifier) -> str:
    return f"{tree.kind}({print_name(tree.variable)} IN {print_expression(tree.source)}{_tail(tree.where, None)})"


def _reduce(tree: s.Reduce) -> str:
    start = f"{print_name(tree.accumulator)} = {print_expression(tree.initial)}"
    source = f"{print_name(tree.variable)} IN {print_expression(tree.source)}"
    return f"reduce({start}, {source} | {print_expression(tree.body)})"


def print_node(node: s.NodePattern) -> str:
    name = "" if node.variable is None else print_name(node.variable)
    labels = "".join(f":{print_name(label)}" for label in node.labels)
    if node.label_expression is not None:
        labels = f":{print_labels(node.label_expression)}"
    return f"({name}{labels}{_properties(node.properties)}{_tail(node.where, None)})"


def _properties(properties: s.Expression | None) -> str:
    return "" if properties is None else f" {print_expression(properties)}"


def print_length(length: s.Length | None) -> str:
    if length is None:
        return ""
    low, high = ("" if bound is None else str(bound) for bound in (length.low, length.high))
    return f"*{low}" if low and low == high else f"*{low}..{high}"


def _relationship(pattern: s.RelationshipPattern) -> str:
    name = "" if pattern.variable is None or pattern.variable.startswith(" ") else print_name(pattern.variable)
    types = ":" + "|".join(print_name(type) for type in pattern.types) if pattern.types else ""
    if pattern.type_expression is not None:
        types = f":{print_labels(pattern.type_expression)}"
    where = _tail(pattern.where, None)
    inner = f"[{name}{types}{print_length(pattern.length)}{_properties(pattern.properties)}{where}]"
    left, right = ("<-" if pattern.direction == "in" else "-"), ("->" if pattern.direction == "out" else "-")
    return f"{left}{inner}{right}"


def print_relationship(pattern: s.RelationshipPattern, start: str, end: str) -> str:
    """A step as EXPLAIN shows it: from the node already known to the other."""
    known, other = (f"({'' if name.startswith(' ') else print_name(name)})" for name in (start, end))
    return f"{known}{_relationship(pattern)}{other}"


def print_path(path: s.PathPattern) -> str:
    text = _print_elements(path.elements)
    if path.where is not None:
        text = f"({text}{_tail(path.where, None)})"
    text = f"{path.shortest}({text})" if path.shortest else f"{_print_selector(path.selector)}{text}"
    return text if path.variable is None else f"{print_name(path.variable)} = {text}"


def _print_elements(elements: tuple[s.NodePattern | s.RelationshipPattern | s.QuantifiedPath, ...]) -> str:
    return "".join(_print_element(element) for element in elements)


def _print_element(element: s.NodePattern | s.RelationshipPattern | s.QuantifiedPath) -> str:
    if isinstance(element, s.NodePattern):
        return print_node(element)
    return print_quantified(element) if isinstance(element, s.QuantifiedPath) else _relationship(element)


def print_quantified(path: s.QuantifiedPath) -> str:
    """A quantified path pattern."""
    high = "" if path.high is None else str(path.high)
    return f"({_print_elements(path.elements)}{_tail(path.where, None)}){{{path.low},{high}}}"


def _print_selector(selector: s.PathSelector | None) -> str:
    if selector is None:
        return ""
    word = "SHORTEST" if selector.shortest else "ANY"
    return f"{word} {selector.count}{' GROUPS' if selector.groups else ''} "


def _print_call(clause: s.CallSubquery) -> str:
    names = "*" if clause.everything else ", ".join(map(print_name, clause.imports or ()))
    scope = "" if clause.imports is None else f" ({names})"
    return f"{'OPTIONAL ' if clause.optional else ''}CALL{scope} {{ {print_query(clause.query)} }}"


def _print_procedure(clause: s.CallProcedure) -> str:
    arguments = clause.arguments
    text = f"CALL {'.'.join(map(print_name, clause.name.split('.')))}"
    text += "" if arguments is None else f"({', '.join(map(print_expression, arguments))})"
    if clause.everything:
        text += " YIELD *"
    elif clause.yields:
        text += " YIELD " + ", ".join(
            print_name(field) + ("" if field == alias else f" AS {print_name(alias)}") for field, alias in clause.yields
        )
    return f"{'OPTIONAL ' if clause.optional else ''}{text}{_tail(clause.where, None)}"


def _pattern_comprehension(tree: s.PatternComprehension) -> str:
    return f"[{print_path(tree.pattern)}{_tail(tree.where, tree.projection)}]"


def _projection(projection: s.Projection) -> str:
    items = ["*"] if projection.everything else []
    items += [_item(item) for item in projection.items]
    text = ("DISTINCT " if projection.distinct else "") + ", ".join(items)
    if projection.order:
        text += " ORDER BY " + ", ".join(
            print_expression(sort.value) + (" DESC" if sort.descending else "") for sort in projection.order
        )
    for word, value in (("SKIP", projection.skip), ("LIMIT", projection.limit)):
        text += "" if value is None else f" {word} {print_expression(value)}"
    return text


def _item(item: s.Item) -> str:
    text = print_expression(item.value)
    return f"{text} AS {print_name(item.name)}" if item.aliased else text


def _match(clause: s.Match) -> str:
    patterns = ", ".join(print_path(pattern) for pattern in clause.patterns)
    return f"{'OPTIONAL ' if clause.optional else ''}MATCH {patterns}{_tail(clause.where, None)}"


CLAUSES: dict[type, Callable[[Any], str]] = {
    s.Match: _match,
    s.Unwind: lambda c: f"UNWIND {print_expression(c.source)} AS {print_name(c.variable)}",
    s.With: lambda c: f"WITH {_projection(c.projection)}{_tail(c.where, None)}",
    s.Return: lambda c: f"RETURN {_projection(c.projection)}",
    s.Finish: lambda c: "FINISH",
    s.CallSubquery: _print_call,
    s.CallProcedure: _print_procedure,
}


def print_query(query: s.Query) -> str:
    """A whole query on one line."""
    parts = [" ".join(CLAUSES[type(clause)](clause) for clause in part.clauses) for part in query.parts]
    return (" UNION ALL " if query.all else " UNION ").join(parts)


PRINTERS: dict[type, Callable[[Any], str]] = {
    s.Literal: _literal,
    s.Parameter: lambda t: f"${t.name if re.fullmatch(r'[A-Za-z0-9_]+', t.name) else print_name(t.name)}",
    s.Variable: lambda t: print_name(t.name),
    s.Property: lambda t: f"{_subject(t.subject)}.{print_name(t.key)}",
    s.HasLabels: _print_label_test,
    s.Index: lambda t: f"{_subject(t.subject)}[{print_expression(t.index)}]",
    s.Slice: _slice,
    s.ListLiteral: _list,
    s.MapLiteral: lambda t: _entries(t.entries),
    s.MapProjection: _map_projection,
    s.Unary: _unary,
    s.Binary: _binary,
    s.Comparison: _comparison,
    s.IsNull: _print_is,
    s.TypeTest: _print_is,
    s.NormalizedTest: _print_is,
    s.LabelTest: _print_label_test,
    s.CaseSubject: lambda t: "",
    s.Call: _call,
    s.CountStar: lambda t: "count(*)",
    s.Case: _case,
    s.ListComprehension: _comprehension,
    s.Quantifier: _quantifier,
    s.Reduce: _reduce,
    s.PatternExpression: lambda t: print_path(t.pattern),
    s.PatternComprehension: _pattern_comprehension,
    s.Subquery: lambda t: f"{t.kind} {{ {print_query(t.query)} }}",
}
