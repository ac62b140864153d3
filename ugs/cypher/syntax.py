"""The syntax tree. It knows reading clauses only: what is not here cannot be said, and so cannot happen.

Nodes are frozen and compare by meaning: the place in the text (`at`) does not count, so that equal expressions are
recognised as equal wherever they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from typing import Literal as Exactly


@dataclass(frozen=True, slots=True)
class Expression:
    """Anything that has a value."""

    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    value: bool | int | float | str | None

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Literal) and type(self.value) is type(other.value)
        return same and repr(self.value) == repr(other.value)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Parameter(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    name: str


@dataclass(frozen=True, slots=True)
class Property(Expression):
    subject: Expression
    key: str


@dataclass(frozen=True, slots=True)
class HasLabels(Expression):
    subject: Expression
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Index(Expression):
    subject: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice(Expression):
    subject: Expression
    start: Expression | None
    end: Expression | None


@dataclass(frozen=True, slots=True)
class ListLiteral(Expression):
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral(Expression):
    entries: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class MapProjection(Expression):
    """`subject {.key, .*, name: expression}`; an entry without a value copies the property of that name."""

    subject: Expression
    entries: tuple[tuple[str, Expression | None], ...]
    everything: bool


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    op: str
    """NOT, + or -."""
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """`a < b <= c`: each neighbour pair must hold."""

    operands: tuple[Expression, ...]
    ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    operand: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function, by its name in lower case; `written` is how the author spelt it."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class CountStar(Expression):
    pass


@dataclass(frozen=True, slots=True)
class Case(Expression):
    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None


@dataclass(frozen=True, slots=True)
class ListComprehension(Expression):
    variable: str
    source: Expression
    where: Expression | None
    projection: Expression | None


@dataclass(frozen=True, slots=True)
class Quantifier(Expression):
    kind: str
    """all, any, none or single."""
    variable: str
    source: Expression
    where: Expression


@dataclass(frozen=True, slots=True)
class Reduce(Expression):
    accumulator: str
    initial: Expression
    variable: str
    source: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str | None
    labels: tuple[str, ...]
    properties: Expression | None
    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Length:
    """How many relationships a variable-length step may take; None is open."""

    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    variable: str | None
    types: tuple[str, ...]
    direction: Exactly["out", "in", "both"]
    length: Length | None
    properties: Expression | None
    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Nodes and relationships in turn, perhaps named, perhaps only the shortest."""

    variable: str | None
    elements: tuple[NodePattern | RelationshipPattern, ...]
    shortest: Exactly["", "shortestPath", "allShortestPaths"] = ""
    at: int = field(default=0, compare=False, kw_only=True)

    @property
    def nodes(self) -> tuple[NodePattern, ...]:
        return self.elements[0::2]  # type: ignore[return-value]

    @property
    def relationships(self) -> tuple[RelationshipPattern, ...]:
        return self.elements[1::2]  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class PatternExpression(Expression):
    """A pattern used as a condition, or a shortest path used as a value."""

    pattern: PathPattern


@dataclass(frozen=True, slots=True)
class PatternComprehension(Expression):
    pattern: PathPattern
    where: Expression | None
    projection: Expression


@dataclass(frozen=True, slots=True)
class Subquery(Expression):
    """`EXISTS { … }`, `COUNT { … }` or `COLLECT { … }`."""

    kind: str
    query: Query


@dataclass(frozen=True, slots=True)
class Clause:
    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Match(Clause):
    patterns: tuple[PathPattern, ...]
    where: Expression | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Unwind(Clause):
    source: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class Item:
    """One column: its value, its name, and whether the name was given with AS."""

    value: Expression
    name: str = field(compare=False)
    aliased: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    value: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Projection:
    """What WITH and RETURN share."""

    items: tuple[Item, ...]
    everything: bool = False
    distinct: bool = False
    order: tuple[Sort, ...] = ()
    skip: Expression | None = None
    limit: Expression | None = None


@dataclass(frozen=True, slots=True)
class With(Clause):
    projection: Projection
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Return(Clause):
    projection: Projection


@dataclass(frozen=True, slots=True)
class Single:
    """Clauses, one after another."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """One query, or several whose rows are united."""

    parts: tuple[Single, ...]
    all: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A query, and whether to run it, to explain it, or to run and measure it."""

    query: Query
    mode: Exactly["", "EXPLAIN", "PROFILE"] = ""


Tree = Any
"""Any node of the tree, for walks that do not care which."""
