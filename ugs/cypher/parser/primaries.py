"""Parsing of what expressions are made of: literals, names, calls, brackets of every kind."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.lexer import build_overflow_error, read_integer
from ugs.cypher.parser.patterns import SHORTEST, Patterns
from ugs.cypher.parser.token_stream import RESERVED
from ugs.cypher.syntax import (
    Call,
    Case,
    CountStar,
    Expression,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Match,
    Parameter,
    PathPattern,
    PatternComprehension,
    PatternExpression,
    Property,
    Quantifier,
    Query,
    Reduce,
    Single,
    Subquery,
    Variable,
)
from ugs.values import MAX_INT, MIN_INT

NUMBERS = {"INF": math.inf, "INFINITY": math.inf, "NAN": math.nan}
CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None, **NUMBERS}
TRIM_SIDES = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}
QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")
SUBQUERIES = ("EXISTS", "COUNT", "COLLECT")


class Atoms(Patterns):
    """The part of the parser that reads single values."""

    def atom(self) -> Expression:
        token = self.token
        read = BRACKETS.get(token.value) if token.kind == "op" else ATOMS.get(token.kind)
        if read is None:
            self.fail("an expression")
        return read(self)

    def number(self, negative: bool = False) -> Expression:
        token = self.token
        self.place += 1
        if token.kind == "float":
            value = read_float(token.value, token.start)
        else:
            value = read_integer(token.value, token.start)
        value = -value if negative else value
        if isinstance(value, int) and not MIN_INT <= value <= MAX_INT:
            raise build_overflow_error(token.value, token.start)
        return Literal(value, at=token.start)

    def _bad_number(self) -> Expression:
        raise CypherSyntaxError("InvalidNumberLiteral", f"{self.token.value!r} is not a number", self.at)

    def _string(self) -> Expression:
        token = self.token
        self.place += 1
        return Literal(token.value, at=token.start)

    def _parameter(self) -> Expression:
        token = self.token
        self.place += 1
        return Parameter(token.value, at=token.start)

    def _quoted(self) -> Expression:
        at = self.at
        return self._variable_or_projection(Variable(self.name("a variable"), at=at))

    def _word(self) -> Expression:
        token, following = self.token, self.ahead()
        if token.upper in CONSTANTS and not (token.upper in NUMBERS and following.value in ("(", ".", "{")):
            self.place += 1
            return Literal(CONSTANTS[token.upper], at=token.start)
        if token.upper == "CASE" and following.value not in (")", ",", ".", "="):
            return self._case()
        if following.value == "{" and token.upper in SUBQUERIES:
            return self._subquery()
        if following.value in ("(", ".") and following.kind == "op":
            return self._call_or_variable()
        return self._plain_variable()

    def _plain_variable(self) -> Expression:
        at = self.at
        if self.token.upper in RESERVED:
            self.fail("an expression")
        return self._variable_or_projection(Variable(self.name("a variable"), at=at))

    def _variable_or_projection(self, variable: Variable) -> Expression:
        return self._projection(variable) if self.is_op("{") else variable

    def _call_or_variable(self) -> Expression:
        """A name before a bracket is a function; names before dots may be its name space."""
        steps = 0
        while self.ahead(steps + 1).value == "." and self.ahead(steps + 2).kind == "name":
            steps += 2
        if self.ahead(steps + 1).value != "(" or self.ahead(steps + 1).kind != "op":
            return self._plain_variable()
        special = SPECIAL_CALLS.get(self.token.upper) if steps == 0 else None
        found: Expression | None = special(self) if special else None
        return found if found is not None else self._call(steps)

    def _call(self, steps: int) -> Expression:
        at = self.at
        written = self.text[at : self.ahead(steps).end]
        name = "".join(self.ahead(n).value for n in range(steps + 1)).lower()
        self.place += steps + 2
        if name == "count" and self.accept_op("*"):
            self.expect_op(")")
            return CountStar(at=at)
        distinct = self.accept_word("DISTINCT")
        arguments = self._parse_list(")")
        return Call(name, arguments, distinct, written, at=at)

    def _parse_list(self, closing: str) -> tuple[Expression, ...]:
        """Expressions between commas up to the closing bracket, which is read too."""
        found: list[Expression] = []
        if self.accept_op(closing):
            return ()
        found.append(self.expression())
        while self.accept_op(","):
            found.append(self.expression())
        self.expect_op(closing)
        return tuple(found)

    def _quantifier(self) -> Expression | None:
        if not (self.ahead(2).kind in ("name", "quoted") and self.ahead(3).upper == "IN"):
            return None
        at, kind = self.at, self.token.value.lower()
        self.place += 2
        variable = self.name("a variable")
        self.expect_word("IN")
        source = self.expression()
        where = self.expression() if self.accept_word("WHERE") else Literal(True)
        self.expect_op(")")
        return Quantifier(kind, variable, source, where, at=at)

    def _exists_call(self) -> Expression | None:
        """`exists((a)-->(b))`; with anything else inside it is the function."""
        start = self.place
        self.place += 2
        pattern = self.try_pattern() if self.is_op("(") else None
        if pattern is None or not self.accept_op(")"):
            self.place = start
            return None
        at = self.tokens[start].start
        return Subquery("EXISTS", _query_of(pattern, None), at=at)

    def _shortest(self) -> Expression:
        at = self.at
        return PatternExpression(self.shortest_path(), at=at)

    def _reduce(self) -> Expression | None:
        if self.ahead(3).value != "=":
            return None
        at = self.at
        self.place += 2
        accumulator = self.name("a variable")
        self.expect_op("=")
        initial = self.expression()
        self.expect_op(",")
        variable = self.name("a variable")
        self.expect_word("IN")
        source = self.expression()
        self.expect_op("|")
        body = self.expression()
        self.expect_op(")")
        return Reduce(accumulator, initial, variable, source, body, at=at)

    def _case(self) -> Expression:
        at = self.at
        self.place += 1
        subject = None if self.is_word("WHEN") else self.expression()
        branches = []
        while self.accept_word("WHEN"):
            conditions = [self._case_condition(subject)]
            while subject is not None and self.accept_op(","):
                conditions.append(self._case_condition(subject))
            self.expect_word("THEN")
            result = self.expression()
            branches += [(condition, result) for condition in conditions]
        if not branches:
            self.fail("WHEN")
        default = self.expression() if self.accept_word("ELSE") else None
        self.expect_word("END")
        return Case(subject, tuple(branches), default, at=at)

    def _case_condition(self, subject: Expression | None) -> Expression:
        """A condition, a value, or with a subject an operator and its right side, such as `> 50`."""
        return self.expression() if subject is None else self.case_operand()

    @abstractmethod
    def case_operand(self) -> Expression:
        """What follows WHEN in a CASE with a subject."""

    def _trim(self) -> Expression | None:
        """`trim(BOTH ' ' FROM text)`; with a plain argument it is a function."""
        side = self.ahead(2).upper
        if side not in TRIM_SIDES and not self._has_from():
            return None
        at, written = self.at, self.text[self.at : self.token.end]
        self.place += 2
        self.place += side in TRIM_SIDES
        characters = () if self.is_word("FROM") else (self.expression(),)
        self.expect_word("FROM")
        text = self.expression()
        self.expect_op(")")
        return Call(TRIM_SIDES.get(side, "btrim"), (text, *characters), False, TRIM_SIDES.get(side, written), at=at)

    def _has_from(self) -> bool:
        opener = self.place + 1
        closer = self.closer_of(opener) if self.opener_of(opener + 1) == opener else opener
        inside = range(opener + 1, closer)
        return any(self.tokens[n].upper == "FROM" and self.opener_of(n) == opener for n in inside)

    def _normalize(self) -> Expression | None:
        """`normalize(text, NFD)`: the normal form is a keyword."""
        call = self._call(0)
        assert isinstance(call, Call)
        if len(call.arguments) == 2 and isinstance(form := call.arguments[1], Variable):
            return replace(call, arguments=(call.arguments[0], Literal(form.name.upper(), at=form.at)))
        return call

    def _subquery(self) -> Expression:
        at, kind = self.at, self.token.upper
        self.place += 2
        if self.is_word("MATCH") or self.token.upper in ("OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"):
            was_inside, self.in_call = self.in_call, False
            query = self.query()
            self.in_call = was_inside
        else:
            patterns = self.path_patterns()
            where = self.expression() if self.accept_word("WHERE") else None
            query = Query((Single((Match(patterns, where, at=at),)),))
        self.expect_op("}")
        return Subquery(kind, query, at=at)

    def _parenthesis(self) -> Expression:
        at = self.at
        pattern = self.try_pattern()
        if pattern is not None:
            return PatternExpression(pattern, at=at)
        self.place += 1
        inner = self.expression()
        self.expect_op(")")
        return inner

    def _bracket(self) -> Expression:
        at = self.at
        self.place += 1
        if self.token.kind in ("name", "quoted") and self.ahead().upper == "IN" and self.token.upper not in CONSTANTS:
            return self._list_comprehension(at)
        return self._pattern_comprehension(at) or ListLiteral(self._parse_list("]"), at=at)

    def _list_comprehension(self, at: int) -> Expression:
        variable = self.name("a variable")
        self.expect_word("IN")
        source = self.expression()
        where = self.expression() if self.accept_word("WHERE") else None
        projection = self.expression() if self.accept_op("|") else None
        self.expect_op("]")
        return ListComprehension(variable, source, where, projection, at=at)

    def _pattern_comprehension(self, at: int) -> Expression | None:
        start, variable = self.place, None
        if self.token.kind in ("name", "quoted") and self.ahead().value == "=" and self.ahead(2).value == "(":
            variable = self.token.value
            self.place += 2
        pattern = self.try_pattern() if self.is_op("(") else None
        if pattern is None or not (self.is_word("WHERE") or self.is_op("|")):
            self.place = start
            return None
        where = self.expression() if self.accept_word("WHERE") else None
        self.expect_op("|")
        projection = self.expression()
        self.expect_op("]")
        named = PathPattern(variable, pattern.elements, at=pattern.at)
        return PatternComprehension(named, where, projection, at=at)

    def _map(self) -> Expression:
        at = self.at
        self.place += 1
        entries: list[tuple[str, Expression]] = []
        if not self.accept_op("}"):
            entries.append(self._entry())
            while self.accept_op(","):
                entries.append(self._entry())
            self.expect_op("}")
        return MapLiteral(tuple(entries), at=at)

    def _entry(self) -> tuple[str, Expression]:
        key = self.any_name("a key")
        self.expect_op(":")
        return key, self.expression()

    def _projection(self, subject: Variable) -> Expression:
        self.place += 1
        entries: list[tuple[str, Expression | None]] = []
        everything = False
        while not self.is_op("}"):
            entry = self._parse_projection_entry()
            everything |= entry is None
            if entry is not None:
                entries.append(entry)
            if not self.accept_op(","):
                break
        self.expect_op("}")
        return MapProjection(subject, tuple(entries), everything, at=subject.at)

    def _parse_projection_entry(self) -> tuple[str, Expression | None] | None:
        if self.accept_op("."):
            return None if self.accept_op("*") else (self.any_name("a property key"), None)
        at = self.at
        key = self.any_name("a key")
        return (key, self.expression()) if self.accept_op(":") else (key, Variable(key, at=at))


def _query_of(pattern: PathPattern, where: Expression | None) -> Query:
    return Query((Single((Match((pattern,), where, at=pattern.at),)),))


def read_float(text: str, at: int) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise CypherSyntaxError("FloatingPointOverflow", f"{text[:40]} does not fit a 64-bit float", at)
    return value


ATOMS: dict[str, Callable[[Atoms], Expression]] = {
    "name": Atoms._word,
    "quoted": Atoms._quoted,
    "integer": Atoms.number,
    "float": Atoms.number,
    "bad": Atoms._bad_number,
    "string": Atoms._string,
    "parameter": Atoms._parameter,
}
BRACKETS: dict[str, Callable[[Atoms], Expression]] = {
    "(": Atoms._parenthesis,
    "[": Atoms._bracket,
    "{": Atoms._map,
}
SPECIAL_CALLS: dict[str, Callable[[Atoms], Expression | None]] = {
    **dict.fromkeys(QUANTIFIERS, Atoms._quantifier),
    **dict.fromkeys(SHORTEST, Atoms._shortest),
    "EXISTS": Atoms._exists_call,
    "REDUCE": Atoms._reduce,
    "TRIM": Atoms._trim,
    "NORMALIZE": Atoms._normalize,
}
__all__ = ["Atoms", "Property"]
