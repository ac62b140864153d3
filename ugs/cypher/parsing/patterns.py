"""Parsing of patterns: `(a:Person {name: $name})-[r:KNOWS*1..3]->(b)`."""

from __future__ import annotations

from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.parsing.cursor import Cursor
from ugs.cypher.syntax import Expression, Length, NodePattern, PathPattern, RelationshipPattern

SHORTEST = {"SHORTESTPATH": "shortestPath", "ALLSHORTESTPATHS": "allShortestPaths"}
NO_RELATIONSHIP = -1


class Patterns(Cursor):
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
        return PathPattern(variable, self._chain(), at=at)

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
        variable = None if self.is_op(":", "{", ")") or self.token.kind == "parameter" else self.name("a variable")
        labels = self.labels()
        properties = self.pattern_properties()
        self.expect_op(")")
        return NodePattern(variable, labels, properties, at=at)

    def labels(self) -> tuple[str, ...]:
        found = []
        while self.accept_op(":"):
            found.append(self.any_name("a label"))
        return tuple(found)

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
        variable, types, length, properties = self._relationship_detail()
        self.expect_op("-")
        outgoing = self.accept_op(">")
        direction = "both" if incoming == outgoing else "in" if incoming else "out"
        return RelationshipPattern(variable, types, direction, length, properties, at=at)  # type: ignore[arg-type]

    def _relationship_detail(self) -> tuple[str | None, tuple[str, ...], Length | None, Expression | None]:
        if not self.accept_op("["):
            return None, (), None, None
        has_name = self.token.kind in ("name", "quoted")
        variable = self.name("a variable") if has_name else None
        types = self._types()
        length = self._length()
        properties = self.pattern_properties()
        if self.is_op("..", "-"):
            raise CypherSyntaxError("InvalidRelationshipPattern", "A length is written *low..high", self.at)
        self.expect_op("]")
        return variable, types, length, properties

    def _types(self) -> tuple[str, ...]:
        if not self.accept_op(":"):
            return ()
        found = [self.any_name("a relationship type")]
        while self.accept_op("|"):
            self.accept_op(":")
            found.append(self.any_name("a relationship type"))
        return tuple(found)

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
        value = int(self.token.value, 0) if not self.token.value.isdigit() else int(self.token.value)
        self.place += 1
        return value
