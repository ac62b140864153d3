"""Places of a module where one small change makes it wrong, found in its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "),
    ast.In: (" in ", " not in "),
    ast.NotIn: (" not in ", " in "),
}


class Mutation(Struct, frozen=True):
    """One replacement on one line."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, text: str) -> str:
        """The text of the module with the fault in it."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        assert line[self.start : self.end].decode() == self.old, self
        lines[self.line - 1] = (line[: self.start] + self.new.encode() + line[self.end :]).decode()
        return "".join(lines)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.old.strip()}` → `{self.new.strip()}`"


def mutations_of(path: Path, name: str) -> list[Mutation]:
    """Every mutation of a module; text across several lines is left alone."""
    text = path.read_text(encoding="utf-8")
    lines = [line.encode() for line in text.splitlines()]
    return list(_find(ast.parse(text), lines, name))


def _find(tree: ast.AST, lines: list[bytes], name: str) -> Iterator[Mutation]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            old, new = COMPARISONS[type(node.ops[0])]
            yield from _between(node.left, node.comparators[0], old, new, lines, name)
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            old, new = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
            yield from _between(node.values[0], node.values[1], old, new, lines, name)
        elif (
            isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)
        ):
            yield _at(node.value, lines, name, str(not node.value.value))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and node.lineno == node.operand.lineno:
            start, end = node.col_offset, node.col_offset + len("not ")
            yield Mutation(name, node.lineno, start, end, lines[node.lineno - 1][start:end].decode(), "")


def _between(left: ast.expr, right: ast.expr, old: str, new: str, lines: list[bytes], name: str) -> Iterator[Mutation]:
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    gap = lines[right.lineno - 1][left.end_col_offset : right.col_offset].decode()
    place = gap.find(old)
    if place >= 0 and gap.count(old) == 1:
        start = left.end_col_offset + len(gap[:place].encode())
        yield Mutation(name, right.lineno, start, start + len(old.encode()), old, new)


def _at(node: ast.Constant, lines: list[bytes], name: str, new: str) -> Mutation:
    end = node.end_col_offset or node.col_offset
    return Mutation(
        name, node.lineno, node.col_offset, end, lines[node.lineno - 1][node.col_offset : end].decode(), new
    )
