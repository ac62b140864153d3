"""Parsing of label and type expressions: `:A&(B|!C)`, `:%`, `:$(value)`."""

from __future__ import annotations

from abc import abstractmethod

from ugs.cypher.parser.token_stream import Cursor
from ugs.cypher.syntax import (
    AnyLabel,
    DynamicLabels,
    Expression,
    LabelAnd,
    LabelExpression,
    LabelName,
    LabelNot,
    LabelOr,
)


class LabelExpressions(Cursor):
    """The part of the parser that reads label expressions."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.in_pattern = False
        """Whether the labels of a node or relationship pattern are being read, where `|` always means OR."""

    def label_expression(self, what: str = "a label") -> LabelExpression:
        """A disjunction; the leading `:` or IS has been read."""
        self.enter()
        operands = [self._label_conjunction(what)]
        while self.is_op("|") and not self._is_projection_bar():
            self.place += 1
            self.accept_op(":")
            operands.append(self._label_conjunction(what))
        self.leave()
        return operands[0] if len(operands) == 1 else LabelOr(tuple(operands))

    def _label_conjunction(self, what: str) -> LabelExpression:
        operands = [self._label_factor(what)]
        while self.accept_op("&") or self.accept_op(":"):
            operands.append(self._label_factor(what))
        return operands[0] if len(operands) == 1 else LabelAnd(tuple(operands))

    def _label_factor(self, what: str) -> LabelExpression:
        negated = False
        while self.accept_op("!"):
            negated = not negated
        factor = self._label_primary(what)
        return LabelNot(factor) if negated else factor

    def _label_primary(self, what: str) -> LabelExpression:
        if self.accept_op("%"):
            return AnyLabel()
        if self.is_op("(") and self.ahead().value != ")":
            self.place += 1
            inner = self.label_expression(what)
            self.expect_op(")")
            return inner
        if self.is_op("$") or self._is_dynamic_quantifier():
            return self._dynamic_labels()
        return LabelName(self.any_name(what))

    def _is_dynamic_quantifier(self) -> bool:
        token = self.token
        return token.kind == "parameter" and token.value.lower() in ("all", "any") and self.ahead().value == "("

    def _dynamic_labels(self) -> DynamicLabels:
        every = self.token.value.lower() != "any"
        self.place += 1
        self.expect_op("(")
        was_inside, self.in_pattern = self.in_pattern, False
        value = self.expression()
        self.in_pattern = was_inside
        self.expect_op(")")
        return DynamicLabels(value, every)

    def _is_projection_bar(self) -> bool:
        """Whether this `|` separates the projection of a comprehension: then it is the last one of its bracket."""
        if self.in_pattern:
            return False
        opener = self.opener_of(self.place)
        if opener is None or self.tokens[opener].value != "[" or self.tokens[opener].kind != "op":
            return False
        return not any(
            token.kind == "op" and token.value == "|" and self.opener_of(number) == opener
            for number, token in enumerate(self.tokens[self.place + 1 : self.closer_of(opener)], self.place + 1)
        )

    @abstractmethod
    def expression(self) -> Expression:
        """Any expression."""


def plain_conjunction(labels: LabelExpression | None) -> tuple[str, ...] | None:
    """The names of a conjunction of names; None for any other expression."""
    if labels is None:
        return ()
    parts = labels.operands if isinstance(labels, LabelAnd) else (labels,)
    names = tuple(part.name for part in parts if isinstance(part, LabelName))
    return names if len(names) == len(parts) else None


def plain_disjunction(labels: LabelExpression | None) -> tuple[str, ...] | None:
    """The names of a disjunction of names; None for any other expression."""
    if labels is None:
        return ()
    parts = labels.operands if isinstance(labels, LabelOr) else (labels,)
    names = tuple(part.name for part in parts if isinstance(part, LabelName))
    return names if len(names) == len(parts) else None
