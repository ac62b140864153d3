"""The syntax tree. It has reading clauses only, so a query that writes cannot even be represented.

Nodes are frozen and compare by structure, ignoring the offset in the text (`at`), so that equal expressions are
recognised wherever they occur.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from typing import Literal as Exactly


@dataclass(frozen=True, slots=True)
class Expression:
    """Base of all expressions."""

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
class LabelName:
    """A label or a relationship type."""

    name: str


@dataclass(frozen=True, slots=True)
class AnyLabel:
    """`%`: at least one label."""


@dataclass(frozen=True, slots=True)
class DynamicLabels:
    """`$(value)`, `$all(value)` or `$any(value)`: labels computed when the query runs."""

    value: Expression
    every: bool = True


@dataclass(frozen=True, slots=True)
class LabelNot:
    operand: LabelExpression


@dataclass(frozen=True, slots=True)
class LabelAnd:
    operands: tuple[LabelExpression, ...]


@dataclass(frozen=True, slots=True)
class LabelOr:
    operands: tuple[LabelExpression, ...]


LabelExpression = LabelName | AnyLabel | DynamicLabels | LabelNot | LabelAnd | LabelOr


@dataclass(frozen=True, slots=True)
class LabelTest(Expression):
    """`subject:A|!B`: any label expression beyond a plain conjunction of names, which is `HasLabels`."""

    subject: Expression
    labels: LabelExpression


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type of `IS ::`: a name in upper case, the type of list elements, and whether null is excluded."""

    name: str
    item: ValueType | None = None
    not_null: bool = False
    options: tuple[ValueType, ...] = ()
    """The alternatives, if the name is `ANY`."""


@dataclass(frozen=True, slots=True)
class TypeTest(Expression):
    """`operand IS [NOT] :: TYPE`."""

    operand: Expression
    type: ValueType
    negated: bool


@dataclass(frozen=True, slots=True)
class NormalizedTest(Expression):
    """`operand IS [NOT] [NFC|NFD|NFKC|NFKD] NORMALIZED`."""

    operand: Expression
    form: str
    negated: bool


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
class CaseSubject(Expression):
    """The subject of the enclosing CASE, in a branch such as `WHEN > 50`."""


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """Branches compare with the subject; a branch that contains `CaseSubject` is a condition instead."""

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
    label_expression: LabelExpression | None = None
    """Any label expression beyond a plain conjunction of names."""
    where: Expression | None = None
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
    type_expression: LabelExpression | None = None
    """Any type expression beyond a plain disjunction of names."""
    where: Expression | None = None
    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class QuantifiedPath:
    """`((x)-->(y) WHERE …){low,high}`: its variables are lists outside; `variable` is never written."""

    elements: tuple[NodePattern | RelationshipPattern, ...]
    where: Expression | None
    low: int
    high: int | None
    variable: str | None = None
    at: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PathSelector:
    """`ANY k`, `SHORTEST k` or `SHORTEST k GROUPS` for each pair of end nodes; ALL SHORTEST is one group."""

    count: int
    groups: bool = False
    shortest: bool = True


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Nodes and relationships in turn, perhaps named, perhaps only the shortest."""

    variable: str | None
    elements: tuple[NodePattern | RelationshipPattern | QuantifiedPath, ...]
    shortest: Exactly["", "shortestPath", "allShortestPaths"] = ""
    where: Expression | None = None
    """The condition of a parenthesized path pattern."""
    selector: PathSelector | None = None
    at: int = field(default=0, compare=False, kw_only=True)

    @property
    def nodes(self) -> tuple[NodePattern, ...]:
        return self.elements[0::2]  # type: ignore[return-value]

    @property
    def relationships(self) -> tuple[RelationshipPattern | QuantifiedPath, ...]:
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
class Finish(Clause):
    """FINISH: the query has no result."""


@dataclass(frozen=True, slots=True)
class CallSubquery(Clause):
    """`CALL (x) { … }`; `imports` is None if the query imports by a leading WITH."""

    query: Query
    imports: tuple[str, ...] | None
    everything: bool = False
    """`CALL (*)`."""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class CallProcedure(Clause):
    """`CALL name(…) YIELD field AS alias WHERE …`; `alone`: the procedure is the whole query."""

    name: str
    arguments: tuple[Expression, ...] | None
    yields: tuple[tuple[str, str], ...] | None
    where: Expression | None = None
    everything: bool = False
    """`YIELD *`."""
    optional: bool = False
    alone: bool = False


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
class Notice:
    """A remark about the text, such as an ignored option."""

    code: str
    message: str
    at: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A query, and whether to run it, to explain it, or to run and measure it."""

    query: Query
    mode: Exactly["", "EXPLAIN", "PROFILE"] = ""
    notices: tuple[Notice, ...] = ()


Tree = Any
"""Any node of the tree, for generic tree walks."""
