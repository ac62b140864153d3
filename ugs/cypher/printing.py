"""Writing the syntax tree as text again: for EXPLAIN, for tests, and for stores that speak the language themselves.

What is written parses to the same tree. Names are quoted whenever they are not plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.parsing.cursor import RESERVED
from ugs.cypher.parsing.expressions import balanced

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEYWORDS = RESERVED | {"TRUE", "FALSE", "NULL", "CASE", "END", "BY", "EXISTS", "COUNT", "COLLECT", "ALL", "ANY", "NONE"}
LEVELS = {
    "OR": 0,
    "XOR": 1,
    "AND": 2,
    **dict.fromkeys(("IN", "STARTS WITH", "ENDS WITH", "CONTAINS", "=~"), 5),
    **dict.fromkeys("+-", 6),
    **dict.fromkeys("*/%", 7),
    "^": 8,
}
NOT, COMPARE, SIGN, ATOM = 3, 4, 9, 10
CONNECTIVES = ("AND", "OR", "XOR")
ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def print_name(name: str) -> str:
    """A name as it must be written; one that could end its own quotes is refused."""
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
    if isinstance(tree, s.Comparison | s.IsNull):
        return COMPARE if isinstance(tree, s.Comparison) else LEVELS["IN"]
    negative = isinstance(tree, s.Literal) and isinstance(tree.value, int | float) and str(tree.value).startswith("-")
    return SIGN if negative else ATOM


def within(tree: s.Expression, level: int) -> str:
    """The expression, in brackets where it binds more loosely than its place."""
    text = print_expression(tree)
    return text if level_of(tree) >= level else f"({text})"


def _binary(tree: s.Binary) -> str:
    level = LEVELS[tree.op]
    operands = _chained(tree, tree.op) if tree.op in CONNECTIVES else []
    if operands and balanced(tree.op, operands) == tree:
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
    """What may stand before a dot or a bracket."""
    simple = isinstance(tree, s.Variable | s.Property | s.Index | s.Slice | s.Call | s.Parameter | s.ListLiteral)
    return print_expression(tree) if simple else f"({print_expression(tree)})"


def _slice(tree: s.Slice) -> str:
    start = "" if tree.start is None else print_expression(tree.start)
    end = "" if tree.end is None else print_expression(tree.end)
    return f"{_subject(tree.subject)}[{start}..{end}]"


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
    arguments = ", ".join(print_expression(argument) for argument in tree.arguments)
    return f"{name}({'DISTINCT ' if tree.distinct else ''}{arguments})"


def _case(tree: s.Case) -> str:
    text = "CASE" if tree.subject is None else f"CASE {print_expression(tree.subject)}"
    for when, then in tree.branches:
        text += f" WHEN {print_expression(when)} THEN {print_expression(then)}"
    if tree.default is not None:
        text += f" ELSE {print_expression(tree.default)}"
    return f"{text} END"


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
    return f"({name}{labels}{_properties(node.properties)})"


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
    inner = f"[{name}{types}{print_length(pattern.length)}{_properties(pattern.properties)}]"
    left, right = ("<-" if pattern.direction == "in" else "-"), ("->" if pattern.direction == "out" else "-")
    return f"{left}{inner}{right}"


def print_relationship(pattern: s.RelationshipPattern, start: str, end: str) -> str:
    """A step as EXPLAIN shows it: from the node already known to the other."""
    known, other = (f"({'' if name.startswith(' ') else print_name(name)})" for name in (start, end))
    return f"{known}{_relationship(pattern)}{other}"


def print_path(path: s.PathPattern) -> str:
    text = "".join(
        print_node(element) if isinstance(element, s.NodePattern) else _relationship(element)
        for element in path.elements
    )
    text = f"{path.shortest}({text})" if path.shortest else text
    return text if path.variable is None else f"{print_name(path.variable)} = {text}"


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
    s.HasLabels: lambda t: f"{_subject(t.subject)}{''.join(':' + print_name(label) for label in t.labels)}",
    s.Index: lambda t: f"{_subject(t.subject)}[{print_expression(t.index)}]",
    s.Slice: _slice,
    s.ListLiteral: lambda t: f"[{', '.join(print_expression(item) for item in t.items)}]",
    s.MapLiteral: lambda t: _entries(t.entries),
    s.MapProjection: _map_projection,
    s.Unary: _unary,
    s.Binary: _binary,
    s.Comparison: _comparison,
    s.IsNull: lambda t: f"{within(t.operand, LEVELS['IN'])} IS {'NOT ' if t.negated else ''}NULL",
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
