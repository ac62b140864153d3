"""The abstract syntax tree of a program: tagged structs whose JSON is exactly the seed's.

Unknown fields are ignored. For optional fields absent and null mean the same, and neither is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Text = Annotated[str, Meta(min_length=1)]
ParamName = Annotated[str, Meta(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", max_length=200)]
Author = Literal["human", "agent", "system"]
Number = int | float


class Operator(StrEnum):
    """How a result changes the working graph."""

    UNION = "+"
    DIFFERENCE = "-"
    INTERSECT = "&"
    OPTIONAL = "?"
    ASSERT = "!"


class BlockType(StrEnum):
    """The blocks of the visual editor."""

    SEARCH = "search"
    SELECT_CONCEPT = "selectConcept"
    NEIGHBORHOOD = "neighborhood"
    PATH_TO = "pathTo"
    FILTER_ONTOLOGY = "filterOntology"
    FILTER_EDGE = "filterEdge"
    FILTER_NODE = "filterNode"
    AND = "and"
    OR = "or"
    NOT = "not"
    LIMIT = "limit"
    VECTOR_SEARCH = "vectorSearch"
    SOURCE_SEARCH = "sourceSearch"
    EPISTEMIC_FILTER = "epistemicFilter"
    ENRICH = "enrich"


class Tree(Struct, frozen=True, omit_defaults=True):
    """The base of all syntax nodes."""


class ProgramMetadata(Tree, frozen=True):
    """Purpose and author of a program."""

    name: str | None = None
    description: str | None = None
    author: Author | None = None
    created: str | None = None


class ParamDeclaration(Tree, frozen=True):
    """A parameter that queries and endpoints may refer to as `$name`."""

    name: ParamName
    type: Literal["string", "number"]
    default: Any = None
    """Of the declared type; checked by the validator (V041)."""


class BlockAnnotation(Tree, frozen=True, rename={"block_type": "blockType"}):
    """The editor block that a statement was compiled from; has no effect on execution."""

    block_type: BlockType
    params: dict[str, Any]


class Operation(Tree, frozen=True, tag_field="type"):
    """How a statement gets its result."""


class CypherOp(Operation, frozen=True, tag="cypher"):
    """A query against the source graph."""

    query: Text
    limit: Annotated[int, Meta(ge=1)] | None = None


class ApiOp(Operation, frozen=True, tag="api"):
    """A call of an internal endpoint."""

    endpoint: Text
    params: dict[str, Any] | UnsetType = UNSET
    """Required by the validator unless it is lenient (C-75)."""

    @property
    def params_or_empty(self) -> dict[str, Any]:
        return {} if isinstance(self.params, UnsetType) else self.params


class Condition(Tree, frozen=True, tag_field="test"):
    """A predicate on the working graph."""


class HasResults(Condition, frozen=True, tag="has_results"):
    """There is at least one node."""


class Empty(Condition, frozen=True, tag="empty"):
    """There is no node."""


class CountAtLeast(Condition, frozen=True, tag="count_gte"):
    """There are at least so many nodes. The published cases refuse 0, which would always hold."""

    value: Number

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise ValueError(f"the value of count_gte must be more than 0, not {self.value}")


class CountAtMost(Condition, frozen=True, tag="count_lte"):
    """There are at most so many nodes."""

    value: Number


class HasOntology(Condition, frozen=True, tag="has_ontology"):
    """Some node belongs to the ontology."""

    ontology: Text


class HasRelationship(Condition, frozen=True, tag="has_relationship"):
    """Some link has the type."""

    type: Text


AnyCondition = HasResults | Empty | CountAtLeast | CountAtMost | HasOntology | HasRelationship


class ConditionalOp(Operation, frozen=True, tag="conditional", rename={"otherwise": "else"}):
    """Executes one of two branches, chosen by a condition on the current working graph."""

    condition: AnyCondition
    then: Annotated[list[Statement], Meta(min_length=1)]
    otherwise: list[Statement] | None = None

    @property
    def branches(self) -> dict[str, list[Statement]]:
        return {"then": self.then, "else": self.otherwise or []}


class Statement(Tree, frozen=True):
    """One operator with one operation."""

    op: Operator
    operation: CypherOp | ApiOp | ConditionalOp
    label: str | None = None
    block: BlockAnnotation | None = None


class GraphProgram(Tree, frozen=True):
    """A whole program."""

    version: Literal[1]
    statements: Annotated[list[Statement], Meta(min_length=1)]
    metadata: ProgramMetadata | UnsetType = UNSET
    params: list[ParamDeclaration] | None = None

    def as_json(self) -> dict[str, Any]:
        """The seed's JSON, with fields in the seed's order."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {key: found[key] for key in ("version", "metadata", "params", "statements") if key in found}

    @property
    def declared(self) -> list[ParamDeclaration]:
        return self.params or []


def paths_in(statements: Sequence[Statement], above: str = "") -> Iterator[tuple[str, Statement]]:
    """Every statement with its path, such as `2.then.0`, in document order."""
    for index, statement in enumerate(statements):
        path = f"{above}{index}"
        yield path, statement
        if isinstance(statement.operation, ConditionalOp):
            for name, branch in statement.operation.branches.items():
                yield from paths_in(branch, f"{path}.{name}.")


def statements_in(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement including those of branches, in document order."""
    for statement in statements:
        yield statement
        if isinstance(statement.operation, ConditionalOp):
            for branch in statement.operation.branches.values():
                yield from statements_in(branch)
