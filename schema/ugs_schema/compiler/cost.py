"""The maximal cost of an operation, computed from its selection before execution.

Every object that may be returned counts one. A list field counts one, plus for each row one and the cost of the
selection below: `graphNodes(first: 100) { nodes { outgoing(first: 10) { nodes { id } } } }` costs 1 + 100 × (1 + 1 +
10) = 1,201. Scalars are free. `@skip` and `@include` are ignored, so that a document has one cost for the same page
sizes.

The length of a list is taken from an argument, from the default page, or from `LIST_ROWS`. Fields that read much more
than they return have an additional cost (`FIELD_COSTS`), and so has every point in time that is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    print_ast,
    type_from_ast,
)

from ugs_schema.compiler.limits import Limits, make_limit_error
from ugs_schema.compiler.row_types import ROW_TYPES, RelatedMany
from ugs_schema.list_page import MAX_UNPAGED_ROWS
from ugs_schema.pagination import DEFAULT_ROWS

SIZE_ARGUMENTS = ("first", "last", "limit")
"""Arguments that give the number of rows of a field."""

LIST_ARGUMENTS = ("ids", "addresses", "operations", "representations")
"""List arguments with one result for each item."""

UNSIZED_ROWS = 20
"""The assumed length of a list that neither an argument nor `LIST_ROWS` gives."""

LIST_ROWS: Mapping[str, int] = {
    # complete without `first` up to that many rows
    "Query.neighbors": MAX_UNPAGED_ROWS,
    "Query.traverse": MAX_UNPAGED_ROWS,
    "Query.connectedNodes": MAX_UNPAGED_ROWS,
    "Query.predicates": MAX_UNPAGED_ROWS,
    "Query.activeFacts": MAX_UNPAGED_ROWS,
    "Query.factTimeline": MAX_UNPAGED_ROWS,
    "Query.entityNeighborhood": MAX_UNPAGED_ROWS,
    "Query.ontologies": MAX_UNPAGED_ROWS,
    "Query.childTasks": MAX_UNPAGED_ROWS,
    "Query.dependencies": MAX_UNPAGED_ROWS,
    "GraphNode.references": MAX_UNPAGED_ROWS,
    # small by nature
    "Query.scopes": 4,
    "Query.actorTypes": 20,
    "Stats.nodeTypes": 100,
    "Stats.edgeTypes": 100,
    "Path.nodes": 100,
    "Path.edges": 100,
    # parts of one object
    "CypherResult.notifications": 5,
    "RecallItem.evidence": 1,
    "RecallResult.items": 20,
    "RecallResult.entities": 20,
    "Webhook.deadLetters": 100,
    "Gateway.settings": 60,
    "Gateway.tenants": 100,
    "Ontology.connectionTypes": 50,
    "Ontology.properties": 50,
    "TypeProperties.definitions": 20,
    "Entity.aliases": 20,
    "Predicate.aliases": 20,
    "Fact.evidence": 20,
    "Fact.supersededBy": 5,
    "Fact.supersedes": 5,
    "Note.facts": 20,
    "Note.context": 32,
    "FactReasons.notes": 20,
    "FactReasons.replaced": 20,
    "FactReasons.replacedBy": 20,
    "FactReasons.events": 50,
    "FactReport.facts": 100,
    "FactReport.links": 100,
    "FactAnswer.facts": 50,
    "MergePreview.moved": 100,
    "MergePreview.folded": 100,
    "MergePreview.conflicts": 100,
    "IntegrityReport.problems": 100,
    # results of engines with a budget of their own
    "CypherResult.plan": 50,
    "WorkingGraph.nodes": 200,
    "WorkingGraph.links": 200,
    "ProgramResult.log": 50,
    "BatchProgramResult.programs": 10,
    "ValidationResult.errors": 20,
    "ValidationResult.warnings": 20,
    # results of mutations, bounded by their input
    "Mutation.installReadyPrograms": 20,
    "NodePayload.warnings": 5,
    "EdgePayload.warnings": 5,
    "DeletePayload.events": 50,
    "DeletePayload.warnings": 5,
    "BatchPayload.elements": 100,
    "BatchPayload.events": 100,
    "BatchPayload.warnings": 20,
    "ImportPayload.warnings": 20,
    "UndoPayload.changes": 100,
    "UndoPayload.conflicts": 20,
    "UndoPayload.events": 100,
    "UndoPayload.warnings": 20,
    "ElementChange.fields": 7,
    "MergePayload.events": 50,
    "CorrectionPayload.reopened": 5,
    "CorrectionPayload.warnings": 5,
    "ProposalPayload.warnings": 5,
    "PredicatePayload.conflicts": 50,
    "FactPayload.superseded": 20,
    "FactPayload.warnings": 5,
    "IngestPayload.notes": 50,
    "IngestPayload.facts": 50,
    "IngestPayload.proposals": 50,
    "IngestPayload.events": 100,
    "IngestPayload.warnings": 20,
    "OntologyPayload.warnings": 20,
}
"""The assumed length of lists without a size argument, by type and field."""

FIELD_COSTS: Mapping[str, int] = {
    "Query.path": 500,
    "Query.changes": 500,
    "Query.search": 50,
    "Query.searchContent": 50,
    "Query.recall": 200,
    "Query.duplicateEntities": 500,
    "Query.entityNeighborhood": 100,
}
"""The additional cost of fields that read many more rows than they return."""

MOMENT_COST = 2_000
"""The cost of each point in time that is read: the log up to it may have to be replayed."""

CONNECTION_FIELDS = frozenset({"nodes", "edges", "pageInfo", "node"})
"""Fields of a connection; its rows are already counted."""

PAGE_FIELDS = frozenset({"aggregate"})
"""Fields of a connection that are there once, and not for each row."""

AGGREGATE_COST, GROUPING_COST = 100, 50
"""The additional cost of an aggregate, which looks at every row that the filter finds, and of each grouping in it."""


class FieldCost:
    """The cost of a field as a function of the variables."""

    def __init__(
        self,
        sizes: list[tuple[str, Any]],
        default_rows: int,
        is_list: bool,
        children: list[FieldCost],
        own_cost: int = 1,
        once: bool = False,
    ) -> None:
        self.sizes, self.default_rows, self.is_list, self.children, self.own_cost = (
            sizes,
            default_rows,
            is_list,
            children,
            own_cost,
        )
        self.once = once
        """Whether it is a field of a page and not of its rows."""
        self.constant: bool = not any(isinstance(size, str) for _, size in sizes) and all(
            part.constant for part in children
        )

    def cost(self, variables: Mapping[str, Any], limits: Limits) -> int:
        """The maximal cost of this field with these variables."""
        each = sum(part.cost(variables, limits) for part in self.children if not part.once)
        once = sum(part.cost(variables, limits) for part in self.children if part.once)
        return self.own_cost + once + (self._count_rows(variables, limits) * (1 + each) if self.is_list else each)

    def _count_rows(self, variables: Mapping[str, Any], limits: Limits) -> int:
        known = [(name, _to_size(variables.get(size) if isinstance(size, str) else size)) for name, size in self.sizes]
        given = [(name, size) for name, size in known if size is not None]
        for name, size in given:
            if name in SIZE_ARGUMENTS and size > limits.page:
                raise make_limit_error(f"{name} is at most {limits.page}; page on with cursors", limits.page)
        return max((size for _, size in given), default=self.default_rows)


def _to_size(value: Any) -> int | None:
    if isinstance(value, list):
        return len(value)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else None


class MomentsCost(FieldCost):
    """The cost of the points in time of an operation, each counted once; null variables cost nothing."""

    def __init__(self, moments: Mapping[str, ValueNode]) -> None:
        super().__init__([], 0, False, [])
        self.moments = moments
        self.constant = not any(isinstance(node, VariableNode) for node in moments.values())

    def cost(self, variables: Mapping[str, Any], limits: Limits) -> int:
        return MOMENT_COST * sum(
            variables.get(node.name.value) is not None if isinstance(node, VariableNode) else True
            for node in self.moments.values()
        )


class CostAnalysis:
    """Computes the costs of a document's operations."""

    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self.schema, self.fragments = schema, fragments
        self.moments: dict[str, ValueNode] = {}

    def operation(self, operation: OperationDefinitionNode) -> list[FieldCost]:
        """The cost of each root field, as a function of the variables."""
        root = self.schema.get_root_type(operation.operation)
        self.moments = {}
        priced = self._analyze_selection(operation.selection_set, root, inner=False)
        return [*priced, MomentsCost(self.moments)] if self.moments else priced

    def _analyze_selection(self, selection_set: SelectionSetNode, parent: Any, inner: bool) -> list[FieldCost]:
        found: list[FieldCost] = []
        for node in selection_set.selections:
            if isinstance(node, FieldNode):
                found += self._analyze_field(node, parent, inner)
                continue
            fragment: Any = self.fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
            condition = fragment.type_condition
            target = parent if condition is None else type_from_ast(self.schema, condition)
            found += self._analyze_selection(fragment.selection_set, target, inner)
        return found

    def _analyze_field(self, node: FieldNode, parent: Any, inner: bool) -> list[FieldCost]:
        fields = parent.fields if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType) else {}
        field = fields.get(node.name.value)
        for argument in node.arguments or ():
            if argument.name.value == "at" and not isinstance(argument.value, NullValueNode):
                self.moments[print_ast(argument.value)] = argument.value
        if field is None or node.selection_set is None or is_leaf_type(get_named_type(field.type)):
            return []
        target: Any = get_named_type(field.type)
        paged = target.name.endswith("Connection")
        children = self._analyze_selection(node.selection_set, target, paged or (inner and node.name.value == "edges"))
        if inner and node.name.value in CONNECTION_FIELDS:
            return children
        is_list = paged or isinstance(get_nullable_type(field.type), GraphQLList)
        name = f"{parent.name}.{node.name.value}"
        return [
            FieldCost(
                _read_sizes(node),
                _get_default_rows(name, field, paged),
                is_list,
                children,
                1 + _get_own_cost(name, inner),
                inner and node.name.value in PAGE_FIELDS,
            )
        ]


def _get_own_cost(name: str, inner: bool) -> int:
    """The additional cost of a field; `inner`: of a connection."""
    parent, _, field = name.partition(".")
    if inner and field in PAGE_FIELDS:
        return AGGREGATE_COST
    if field == "groupBy" and parent.endswith("Aggregate"):
        return GROUPING_COST
    return FIELD_COSTS.get(name, 0)


def _read_sizes(node: FieldNode) -> list[tuple[str, Any]]:
    """The size arguments of a field: a number, a list, or the name of a variable."""
    found: list[tuple[str, Any]] = []
    for argument in node.arguments or ():
        name, value = argument.name.value, argument.value
        if name not in SIZE_ARGUMENTS and name not in LIST_ARGUMENTS:
            continue
        if isinstance(value, VariableNode):
            found.append((name, value.name.value))
        elif isinstance(value, IntValueNode):
            found.append((name, int(value.value)))
        elif isinstance(value, ListValueNode):
            found.append((name, list(value.values)))
    return found


def _get_default_rows(name: str, field: GraphQLField, paged: bool) -> int:
    """The number of rows if no size argument is given."""
    parent, _, own_name = name.partition(".")
    declared = ROW_TYPES[parent].by_name.get(own_name) if parent in ROW_TYPES else None
    if isinstance(declared, RelatedMany):
        return declared.default_rows
    for size in SIZE_ARGUMENTS:
        argument = field.args.get(size)
        if argument is not None and isinstance(argument.default_value, int):
            return argument.default_value
    return DEFAULT_ROWS if paged else LIST_ROWS.get(name, UNSIZED_ROWS)
