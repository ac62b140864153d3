"""Parsing of operators by climbing precedence, so that a bracket costs few stack frames however many levels there are.

Loosest first: OR, XOR, AND, NOT, comparisons, IN and its kin, `+ -`, `* / %`, `^`, signs, then what follows a value.
"""

from __future__ import annotations

from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.lexer import Token
from ugs.cypher.parser.label_expressions import plain_conjunction
from ugs.cypher.parser.primaries import Atoms
from ugs.cypher.parser.value_types import ValueTypes
from ugs.cypher.syntax import (
    Binary,
    CaseSubject,
    Comparison,
    Expression,
    HasLabels,
    Index,
    IsNull,
    LabelExpression,
    LabelTest,
    Literal,
    NormalizedTest,
    Property,
    Slice,
    TypeTest,
    Unary,
)

OR, XOR, AND, NOT, COMPARE, MEMBER, ADD, MULTIPLY, POWER, SIGN = range(10)
SIGNS = {
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">="), COMPARE),
    "=~": MEMBER,
    **dict.fromkeys(("+", "-", "||"), ADD),
    "::": MEMBER,
    **dict.fromkeys("*/%", MULTIPLY),
    "^": POWER,
}
WORDS = {"OR": OR, "XOR": XOR, "AND": AND, "IN": MEMBER, "STARTS": MEMBER, "ENDS": MEMBER, "CONTAINS": MEMBER}
SECOND_WORD = {"STARTS": "WITH", "ENDS": "WITH"}
MAX_CHAIN = 200
NORMAL_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Expressions(Atoms, ValueTypes):
    """The part of the parser that reads operators."""

    def expression(self) -> Expression:
        self.enter()
        found = self._parse_level(OR)
        self.leave()
        return found

    def _parse_level(self, level: int) -> Expression:
        """An expression whose operators all bind at least as tightly as the level."""
        left = self._parse_prefix()
        chain = 0
        while (precedence := self._precedence_of(self.token)) is not None and precedence >= level:
            chain = self._extend_chain(chain) if precedence not in (OR, XOR, AND) else chain
            if precedence <= AND:
                left = self._parse_connective(left, self.token.upper, precedence)
            elif precedence == COMPARE:
                left = self._parse_comparison(left)
            else:
                left = self._parse_operator(left, precedence)
        return left

    def _precedence_of(self, token: Token) -> int | None:
        if token.kind == "op":
            return SIGNS.get(token.value)
        if token.kind != "name":
            return None
        return MEMBER if token.upper == "IS" else WORDS.get(token.upper)

    def _extend_chain(self, chain: int) -> int:
        if chain >= MAX_CHAIN:
            message = f"More than {MAX_CHAIN} operators in a row: split the expression with WITH"
            raise CypherSyntaxError("NestingTooDeep", message, self.at)
        return chain + 1

    def _parse_connective(self, first: Expression, word: str, precedence: int) -> Expression:
        """`a OR b OR c …` as a balanced tree, since the order of grouping changes nothing."""
        operands, places = [first], []
        while self.is_word(word):
            places.append(self.at)
            self.place += 1
            operands.append(self._parse_level(precedence + 1))
        return build_balanced(word, operands, places[0])

    def _parse_comparison(self, first: Expression) -> Expression:
        at = self.at
        operands, ops = [first], []
        while self._precedence_of(self.token) == COMPARE:
            ops.append(self.token.value)
            self.place += 1
            operands.append(self._parse_level(COMPARE + 1))
        return Comparison(tuple(operands), tuple(ops), at=at)

    def _parse_operator(self, left: Expression, precedence: int) -> Expression:
        token = self.token
        self.place += 1
        if token.upper in ("IS", "::"):
            return self._parse_is(left, token)
        op = token.upper
        if op in SECOND_WORD:
            self.expect_word(SECOND_WORD[op])
            op = f"{op} {SECOND_WORD[op]}"
        return Binary(op, left, self._parse_level(precedence + 1), at=token.start)

    def case_operand(self) -> Expression:
        """What follows WHEN in a CASE with a subject: a value, or an operator and its right side."""
        subject = CaseSubject(at=self.at)
        precedence = self._precedence_of(self.token)
        if precedence == COMPARE:
            return self._parse_comparison(subject)
        if precedence == MEMBER and not self.is_word("IN"):
            return self._parse_operator(subject, MEMBER)
        return self.expression()

    def _parse_is(self, left: Expression, token: Token) -> Expression:
        """What follows IS: NULL, a type, a normal form, or labels."""
        at = token.start
        if token.upper == "::":
            return TypeTest(left, self.value_type(), False, at=at)
        negated = self.accept_word("NOT")
        if self.accept_word("NULL"):
            return IsNull(left, negated, at=at)
        if self.accept_op("::") or self.accept_word("TYPED"):
            return TypeTest(left, self.value_type(), negated, at=at)
        if self.is_word("NORMALIZED") or (self.token.upper in NORMAL_FORMS and self.ahead().upper == "NORMALIZED"):
            form = "NFC" if self.is_word("NORMALIZED") else self.token.upper
            self.place += 1 if self.is_word("NORMALIZED") else 2
            return NormalizedTest(left, form, negated, at=at)
        if self.token.kind == "end":
            self.fail("NULL")
        test = label_test(left, self.label_expression(), at)
        return Unary("NOT", test, at=at) if negated else test

    def _parse_prefix(self) -> Expression:
        token = self.token
        if token.upper == "NOT" and token.kind == "name":
            return self._parse_unary("NOT", NOT)
        if token.kind != "op" or token.value not in ("+", "-"):
            return self._parse_postfix(self.atom())
        if token.value == "-" and self.ahead().kind in ("integer", "float"):
            self.place += 1
            return self._parse_postfix(self.number(negative=True))
        return self._parse_unary(token.value, SIGN)

    def _parse_unary(self, op: str, precedence: int) -> Expression:
        at = self.at
        self.place += 1
        self.enter()
        found = Unary(op, self._parse_level(precedence), at=at)
        self.leave()
        return found

    def _parse_postfix(self, subject: Expression) -> Expression:
        chain = 0
        while self.token.kind == "op":
            at, chain = self.at, self._extend_chain(chain)
            if self.accept_op("."):
                subject = Property(subject, self.any_name("a property key"), at=at)
            elif self.accept_op("["):
                subject = self._parse_subscript(subject, at)
            elif self.is_op(":") and not isinstance(subject, Literal):
                self.place += 1
                subject = label_test(subject, self.label_expression(), at)
            else:
                break
        return subject

    def _parse_subscript(self, subject: Expression, at: int) -> Expression:
        start = None if self.is_op("..") else self.expression()
        if not self.accept_op(".."):
            self.expect_op("]")
            return Index(subject, start or Literal(None), at=at)
        end = None if self.is_op("]") else self.expression()
        self.expect_op("]")
        return Slice(subject, start, end, at=at)


def label_test(subject: Expression, labels: LabelExpression, at: int) -> Expression:
    """The test of a label expression; a conjunction of names is a node of its own, which stores can answer."""
    names = plain_conjunction(labels)
    return LabelTest(subject, labels, at=at) if names is None else HasLabels(subject, names, at=at)


def build_balanced(op: str, operands: list[Expression], at: int = 0) -> Expression:
    """A balanced tree of an associative connective, to limit its depth."""
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    return Binary(op, build_balanced(op, operands[:middle], at), build_balanced(op, operands[middle:], at), at=at)
