"""Parsing of patterns: `(a:Person {name: $name})-[r:KNOWS*1..3]->(b)`."""

from __future__ import annotations

from dataclasses import replace

from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.lexer import read_integer
from ugs.cypher.parser.label_expressions import LabelExpressions, plain_conjunction, plain_disjunction
from ugs.cypher.syntax import (
    Expression,
    LabelExpression,
    Length,
    NodePattern,
    PathPattern,
    PathSelector,
    QuantifiedPath,
    RelationshipPattern,
)
from ugs.values import MAX_INT

SHORTEST = {"SHORTESTPATH": "shortestPath", "ALLSHORTESTPATHS": "allShortestPaths"}
Elements = tuple[NodePattern | RelationshipPattern | QuantifiedPath, ...]
MAX_QUANTIFIER = 2**31


class Patterns(LabelExpressions):
    """The part of the parser that reads patterns."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        # What a try at a place gave, so that nested tries cannot multiply.
        self._tried: dict[int, tuple[PathPattern, int] | None] = {}

    def path_patterns(self) -> tuple[PathPattern, ...]:
        found = [self.path_pattern()]
        while self.accept_op(","):
            found.append(self.path_pattern())
        return tuple(found)

    def path_pattern(self) -> PathPattern:
        at, variable = self.at, None
        if self.ahead().value == "=" and self.token.kind in ("name", "quoted"):
            variable = self.name("a path variable")
            self.expect_op("=")
        if self.token.upper in SHORTEST and self.ahead().value == "(":
            return self.shortest_path(variable)
        selector = self._selector()
        if selector is not None and self.token.upper in SHORTEST:
            message = f"A path selector cannot be combined with {SHORTEST[self.token.upper]}()"
            raise CypherSyntaxError("UnexpectedSyntax", message, self.at)
        elements, where = self._path_elements()
        return PathPattern(variable, elements, "", where, selector, at=at)

    def _selector(self) -> PathSelector | None:
        """`ANY [k]`, `ALL SHORTEST`, `ANY SHORTEST`, `SHORTEST [k] [GROUP|GROUPS]`, with PATH or PATHS allowed."""
        selector = None
        if self.accept_word("ALL", "SHORTEST"):
            selector = PathSelector(1, groups=True)
        elif self.accept_word("ANY", "SHORTEST"):
            selector = PathSelector(1)
        elif self.accept_word("SHORTEST"):
            counted = self.token.kind == "integer"
            count = self._path_count()
            _ = self.accept_word("PATH") or self.accept_word("PATHS")
            groups = self.accept_word("GROUP") or self.accept_word("GROUPS")
            if not counted and not groups:
                self.fail("a number of paths")
            selector = PathSelector(count, groups)
        elif self.is_word("ANY"):
            self.place += 1
            selector = PathSelector(self._path_count(), shortest=False)
        elif self.accept_word("ALL"):
            _ = self.accept_word("PATH") or self.accept_word("PATHS")
            return None
        if selector is not None:
            _ = self.accept_word("PATH") or self.accept_word("PATHS")
        return selector

    def _path_count(self) -> int:
        at, count = self.at, self._bound()
        if count is not None and not 1 <= count <= MAX_INT:
            message = f"The number of paths lies between 1 and {MAX_INT}"
            raise CypherSyntaxError("NumberOutOfRange", message, at)
        return 1 if count is None else count

    def _path_elements(self) -> tuple[Elements, Expression | None]:
        """Nodes, relationships and quantified paths; where a node between two of them is omitted, it is added."""
        if self.is_op("(") and self.ahead().value == "(":
            start = self.place
            elements, where, quantifier = self._parenthesized()
            if quantifier is None and not self._continues():
                return elements, where
            self.place = start
        parts: list[NodePattern | RelationshipPattern | QuantifiedPath] = []
        while True:
            before = parts[-1] if parts else None
            if self._relationship_follows() and isinstance(before, NodePattern):
                parts.append(self._quantified_relationship())
                parts.append(self.node_pattern())
            elif self.is_op("(") and self.ahead().value == "(":
                if not isinstance(before, NodePattern):
                    parts.append(NodePattern(None, (), None, at=self.at))
                parts.append(self._quantified_path())
            elif isinstance(before, NodePattern):
                break
            elif before is None or self.is_op("("):
                parts.append(self.node_pattern())
            else:
                parts.append(NodePattern(None, (), None, at=self.at))
        return tuple(parts), None

    def _continues(self) -> bool:
        return self.is_op("(") or self._relationship_follows()

    def _quantified_relationship(self) -> RelationshipPattern | QuantifiedPath:
        relationship = self.relationship_pattern()
        quantifier = self._quantifier_bounds()
        return relationship if quantifier is None else self._quantify(relationship, quantifier)

    def _quantified_path(self) -> QuantifiedPath:
        at = self.at
        elements, where, quantifier = self._parenthesized()
        if quantifier is None:
            raise CypherSyntaxError("UnexpectedSyntax", "A path pattern in brackets needs a quantifier here", at)
        if any(isinstance(part, QuantifiedPath) for part in elements):
            raise CypherSyntaxError("UnexpectedSyntax", "Quantified path patterns cannot be nested", at)
        if len(elements) < 3:
            raise CypherSyntaxError("UnexpectedSyntax", "A quantified path pattern needs a relationship", at)
        if any(isinstance(part, RelationshipPattern) and part.length is not None for part in elements):
            message = "A quantified path pattern cannot contain relationships of variable length"
            raise CypherSyntaxError("UnexpectedSyntax", message, at)
        return QuantifiedPath(elements, where, *quantifier, at=at)  # type: ignore[arg-type]

    def _parenthesized(self) -> tuple[Elements, Expression | None, tuple[int, int | None] | None]:
        """`((a)-->(b) WHERE …)` and its quantifier."""
        self.enter()
        self.expect_op("(")
        elements, inner = self._path_elements()
        where = self.expression() if self.accept_word("WHERE") else inner
        self.expect_op(")")
        self.leave()
        return elements, where, self._quantifier_bounds()

    def _quantifier_bounds(self) -> tuple[int, int | None] | None:
        """`+`, `*`, `{n}` or `{low,high}`."""
        if self.accept_op("+"):
            return 1, None
        if self.accept_op("*"):
            return 0, None
        at = self.at
        if not self.accept_op("{"):
            return None
        low = self._bound()
        high = low
        if self.accept_op(","):
            high = self._bound()
        elif low is None:
            self.fail("a number")
        self.expect_op("}")
        bounds = low or 0, high
        if high is not None and (high < bounds[0] or high < 1 or high > MAX_QUANTIFIER):
            message = "A quantifier {low,high} needs an upper bound of at least 1 and not below the lower one"
            raise CypherSyntaxError("InvalidRelationshipPattern", message, at)
        return bounds

    def _quantify(
        self, relationship: RelationshipPattern, quantifier: tuple[int, int | None]
    ) -> RelationshipPattern | QuantifiedPath:
        """A quantified relationship without a condition is the same as one of variable length."""
        if relationship.length is not None:
            message = "A relationship has either a length or a quantifier"
            raise CypherSyntaxError("InvalidRelationshipPattern", message, relationship.at)
        if relationship.where is None and relationship.type_expression is None:
            return replace(relationship, length=Length(*quantifier))
        ends = NodePattern(None, (), None, at=relationship.at)
        return QuantifiedPath((ends, relationship, ends), None, *quantifier, at=relationship.at)

    def shortest_path(self, variable: str | None = None) -> PathPattern:
        at, kind = self.at, SHORTEST[self.token.upper]
        self.place += 1
        self.expect_op("(")
        elements = self._chain()
        self.expect_op(")")
        if len(elements) != 3:
            message = f"{kind} takes exactly one relationship between two nodes"
            raise CypherSyntaxError("InvalidRelationshipPattern", message, at)
        return PathPattern(variable, elements, kind, at=at)  # type: ignore[arg-type]

    def try_pattern(self) -> PathPattern | None:
        """A pattern with at least one relationship, if one starts here; else nothing is read."""
        start = self.place
        if start not in self._tried:
            self._tried[start] = self._attempt()
        found = self._tried[start]
        self.place = start if found is None else found[1]
        return None if found is None else found[0]

    def _attempt(self) -> tuple[PathPattern, int] | None:
        at = self.at
        if not (self.ahead().kind in ("name", "quoted") or self.ahead().value in (")", ":", "{")):
            return None
        try:
            elements = self._chain()
        except CypherSyntaxError:
            return None
        return (PathPattern(None, elements, at=at), self.place) if len(elements) > 1 else None

    def _chain(self) -> tuple[NodePattern | RelationshipPattern, ...]:
        elements: list[NodePattern | RelationshipPattern] = [self.node_pattern()]
        while self._relationship_follows():
            elements.append(self.relationship_pattern())
            elements.append(self.node_pattern())
        return tuple(elements)

    def _relationship_follows(self) -> bool:
        return self.is_op("-") or (self.is_op("<") and self.ahead().value == "-")

    def node_pattern(self) -> NodePattern:
        at = self.at
        self.expect_op("(")
        nameless = self.is_op(":", "{", ")") or self.token.kind == "parameter" or self.is_word("IS")
        variable = None if nameless or self.is_word("WHERE") else self.name("a variable")
        was_inside, self.in_pattern = self.in_pattern, True
        expression = self.label_expression() if self.accept_op(":") or self.accept_word("IS") else None
        self.in_pattern = was_inside
        labels = plain_conjunction(expression)
        properties = self.pattern_properties()
        where = self.expression() if self.accept_word("WHERE") else None
        self.expect_op(")")
        return NodePattern(variable, labels or (), properties, expression if labels is None else None, where, at=at)

    def pattern_properties(self) -> Expression | None:
        if self.is_op("{"):
            return self.expression()
        if self.token.kind == "parameter":
            message = "A parameter cannot stand for all properties of a pattern; write {key: $parameter.key}"
            raise CypherSyntaxError("InvalidParameterUse", message, self.at)
        return None

    def relationship_pattern(self) -> RelationshipPattern:
        at = self.at
        incoming = self.accept_op("<")
        self.expect_op("-")
        variable, types, length, properties, type_expression, where = self._relationship_detail()
        self.expect_op("-")
        outgoing = self.accept_op(">")
        direction = "both" if incoming == outgoing else "in" if incoming else "out"
        return RelationshipPattern(
            variable,
            types,
            direction,  # type: ignore[arg-type]
            length,
            properties,
            type_expression,
            where,
            at=at,
        )

    def _relationship_detail(
        self,
    ) -> tuple[
        str | None, tuple[str, ...], Length | None, Expression | None, LabelExpression | None, Expression | None
    ]:
        if not self.accept_op("["):
            return None, (), None, None, None, None
        has_name = self.token.kind in ("name", "quoted") and not self.is_word("IS") and not self.is_word("WHERE")
        variable = self.name("a variable") if has_name else None
        expression = self._type_expression()
        types = plain_disjunction(expression)
        length = self._length()
        properties = self.pattern_properties()
        if length is not None and types is None:
            message = "A relationship of variable length takes no type expression: write a quantifier instead"
            raise CypherSyntaxError("InvalidRelationshipPattern", message, self.at)
        at = self.at
        where = self.expression() if self.accept_word("WHERE") else None
        if where is not None and length is not None:
            message = "A relationship of variable length takes no WHERE: write a quantified path pattern instead"
            raise CypherSyntaxError("UnexpectedSyntax", message, at)
        if self.is_op("..", "-"):
            raise CypherSyntaxError("InvalidRelationshipPattern", "A length is written *low..high", self.at)
        self.expect_op("]")
        return variable, types or (), length, properties, expression if types is None else None, where

    def _type_expression(self) -> LabelExpression | None:
        if not self.accept_op(":") and not self.accept_word("IS"):
            return None
        was_inside, self.in_pattern = self.in_pattern, True
        expression = self.label_expression("a relationship type")
        self.in_pattern = was_inside
        return expression

    def _length(self) -> Length | None:
        if not self.accept_op("*"):
            return None
        low = self._bound()
        if not self.accept_op(".."):
            return Length(low, low)
        return Length(low, self._bound())

    def _bound(self) -> int | None:
        if self.token.kind != "integer":
            return None
        value = read_integer(self.token.value, self.at)
        self.place += 1
        return value
