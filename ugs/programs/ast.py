"""The abstract syntax of a program: tagged structs whose JSON is exactly the seed's.

Fields nobody knows are ignored; absent and null mean the same for what is optional, and neither is written.
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
    """Anything a program is made of."""


class ProgramMetadata(Tree, frozen=True):
    """What a program is for, and who wrote it."""

    name: str | None = None
    description: str | None = None
    author: Author | None = None
    created: str | None = None


class ParamDeclaration(Tree, frozen=True):
    """A parameter that queries and endpoints may refer to as `$name`."""

    name: ParamName
    type: Literal["string", "number"]
    default: str | Number | None = None


class BlockAnnotation(Tree, frozen=True, rename={"block_type": "blockType"}):
    """The block a statement was made of; it does not change what the statement does."""

    block_type: BlockType
    params: dict[str, Any]


class Operation(Tree, frozen=True, tag_field="type"):
    """What a statement does to get its result."""


class CypherOp(Operation, frozen=True, tag="cypher"):
    """A query against the source graph."""

    query: Text
    limit: Annotated[int, Meta(ge=1, le=2**53)] | None = None


class ApiOp(Operation, frozen=True, tag="api"):
    """A call of an internal endpoint."""

    endpoint: Text
    params: dict[str, Any] | UnsetType = UNSET
    """The validator insists on it, unless told to be lenient (C-75)."""

    @property
    def given(self) -> dict[str, Any]:
        return {} if isinstance(self.params, UnsetType) else self.params


class Condition(Tree, frozen=True, tag_field="test"):
    """A question about the working graph."""


class HasResults(Condition, frozen=True, tag="has_results"):
    """Is there any node?"""


class Empty(Condition, frozen=True, tag="empty"):
    """Is there no node?"""


class CountAtLeast(Condition, frozen=True, tag="count_gte"):
    """Are there so many nodes or more?"""

    value: Annotated[int, Meta(ge=1)]


class CountAtMost(Condition, frozen=True, tag="count_lte"):
    """Are there so many nodes or fewer?"""

    value: Annotated[int, Meta(ge=0)]


class HasOntology(Condition, frozen=True, tag="has_ontology"):
    """Does any node belong to the ontology?"""

    ontology: Text


class HasRelationship(Condition, frozen=True, tag="has_relationship"):
    """Is any link of the type?"""

    type: Text


AnyCondition = HasResults | Empty | CountAtLeast | CountAtMost | HasOntology | HasRelationship


class ConditionalOp(Operation, frozen=True, tag="conditional", rename={"otherwise": "else"}):
    """One of two branches, chosen by the working graph as it is."""

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
        """The seed's JSON, in the seed's order of fields."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {key: found[key] for key in ("version", "metadata", "params", "statements") if key in found}

    @property
    def declared(self) -> list[ParamDeclaration]:
        return self.params or []


def statements_in(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement, those of branches included, in the order of the text."""
    for statement in statements:
        yield statement
        if isinstance(statement.operation, ConditionalOp):
            for branch in statement.operation.branches.values():
                yield from statements_in(branch)
