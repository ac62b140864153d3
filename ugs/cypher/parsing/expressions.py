"""Parsing of operators by climbing precedence, so that a bracket costs few stack frames however many levels there are.

Loosest first: OR, XOR, AND, NOT, comparisons, IN and its kin, `+ -`, `* / %`, `^`, signs, then what follows a value.
"""

from __future__ import annotations

from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.parsing.atoms import Atoms
from ugs.cypher.syntax import Binary, Comparison, Expression, HasLabels, Index, IsNull, Literal, Property, Slice, Unary
from ugs.cypher.tokens import Token

OR, XOR, AND, NOT, COMPARE, MEMBER, ADD, MULTIPLY, POWER, SIGN = range(10)
SIGNS = {
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">="), COMPARE),
    "=~": MEMBER,
    **dict.fromkeys("+-", ADD),
    **dict.fromkeys("*/%", MULTIPLY),
    "^": POWER,
}
WORDS = {"OR": OR, "XOR": XOR, "AND": AND, "IN": MEMBER, "STARTS": MEMBER, "ENDS": MEMBER, "CONTAINS": MEMBER}
SECOND_WORD = {"STARTS": "WITH", "ENDS": "WITH"}
MAX_CHAIN = 200


class Expressions(Atoms):
    """The part of the parser that reads operators."""

    def expression(self) -> Expression:
        self.enter()
        found = self._climb(OR)
        self.leave()
        return found

    def _climb(self, level: int) -> Expression:
        """An expression whose operators all bind at least as tightly as the level."""
        left = self._prefixed()
        chain = 0
        while (power := self._power_of(self.token)) is not None and power >= level:
            chain = self._longer(chain) if power not in (OR, XOR, AND) else chain
            if power <= AND:
                left = self._connected(left, self.token.upper, power)
            elif power == COMPARE:
                left = self._compared(left)
            else:
                left = self._operated(left, power)
        return left

    def _power_of(self, token: Token) -> int | None:
        if token.kind == "op":
            return SIGNS.get(token.value)
        if token.kind != "name":
            return None
        return MEMBER if token.upper == "IS" else WORDS.get(token.upper)

    def _longer(self, chain: int) -> int:
        if chain >= MAX_CHAIN:
            message = f"More than {MAX_CHAIN} operators in a row: split the expression with WITH"
            raise CypherSyntaxError("NestingTooDeep", message, self.at)
        return chain + 1

    def _connected(self, first: Expression, word: str, power: int) -> Expression:
        """`a OR b OR c …` as a balanced tree, since the order of grouping changes nothing."""
        operands, places = [first], []
        while self.is_word(word):
            places.append(self.at)
            self.place += 1
            operands.append(self._climb(power + 1))
        return balanced(word, operands, places[0])

    def _compared(self, first: Expression) -> Expression:
        at = self.at
        operands, ops = [first], []
        while self._power_of(self.token) == COMPARE:
            ops.append(self.token.value)
            self.place += 1
            operands.append(self._climb(COMPARE + 1))
        return Comparison(tuple(operands), tuple(ops), at=at)

    def _operated(self, left: Expression, power: int) -> Expression:
        token = self.token
        self.place += 1
        if token.upper == "IS":
            negated = self.accept_word("NOT")
            self.expect_word("NULL")
            return IsNull(left, negated, at=token.start)
        op = token.upper
        if op in SECOND_WORD:
            self.expect_word(SECOND_WORD[op])
            op = f"{op} {SECOND_WORD[op]}"
        return Binary(op, left, self._climb(power + 1), at=token.start)

    def _prefixed(self) -> Expression:
        token = self.token
        if token.upper == "NOT" and token.kind == "name":
            return self._prefix("NOT", NOT)
        if token.kind != "op" or token.value not in ("+", "-"):
            return self._after(self.atom())
        if token.value == "-" and self.ahead().kind in ("integer", "float"):
            self.place += 1
            return self._after(self.number(negative=True))
        return self._prefix(token.value, SIGN)

    def _prefix(self, op: str, power: int) -> Expression:
        at = self.at
        self.place += 1
        self.enter()
        found = Unary(op, self._climb(power), at=at)
        self.leave()
        return found

    def _after(self, subject: Expression) -> Expression:
        chain = 0
        while self.token.kind == "op":
            at, chain = self.at, self._longer(chain)
            if self.accept_op("."):
                subject = Property(subject, self.any_name("a property key"), at=at)
            elif self.accept_op("["):
                subject = self._subscript(subject, at)
            elif self.is_op(":") and not isinstance(subject, Literal):
                subject = HasLabels(subject, self.labels(), at=at)
            else:
                break
        return subject

    def _subscript(self, subject: Expression, at: int) -> Expression:
        start = None if self.is_op("..") else self.expression()
        if not self.accept_op(".."):
            self.expect_op("]")
            return Index(subject, start or Literal(None), at=at)
        end = None if self.is_op("]") else self.expression()
        self.expect_op("]")
        return Slice(subject, start, end, at=at)


def balanced(op: str, operands: list[Expression], at: int = 0) -> Expression:
    """A tree of little depth for a connective whose grouping changes nothing."""
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    return Binary(op, balanced(op, operands[:middle], at), balanced(op, operands[middle:], at), at=at)
