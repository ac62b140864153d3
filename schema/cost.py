"""What an operation may cost, worked out from its selection before anything runs.

Every object that may come back counts one. A field that gives many counts one, and for each row it may give, one and
whatever is chosen below it: `graphNodes(first: 100) { nodes { outgoing(first: 10) { nodes { id } } } }` costs
1 + 100 × (1 + 1 + 10) = 1,201. Plain values are free. `@skip` and `@include` change nothing, so that a document has
one price for the same page sizes.
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
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    type_from_ast,
)

from schema.limits import Limits, too_much
from schema.paging import USUAL_ROWS

SIZES = ("first", "last", "limit")
"""Arguments that say how many rows a field gives."""

LISTS = ("ids", "addresses", "operations")
"""Arguments with one answer for each item."""

UNSIZED = 20
"""How many rows a list is taken for whose length no argument tells."""

INNER = frozenset({"nodes", "edges", "pageInfo", "node"})
"""Fields of a connection; its rows are already counted."""


class Priced:
    """A field that gives rows, with what each of them costs."""

    def __init__(self, sizes: list[tuple[str, Any]], usual: int, many: bool, below: list[Priced]) -> None:
        self.sizes, self.usual, self.many, self.below = sizes, usual, many, below
        self.constant: bool = not any(isinstance(size, str) for _, size in sizes) and all(
            part.constant for part in below
        )

    def cost(self, variables: Mapping[str, Any], limits: Limits) -> int:
        """The most this field can cost with these variables."""
        each = sum(part.cost(variables, limits) for part in self.below)
        return 1 + (self._rows(variables, limits) * (1 + each) if self.many else each)

    def _rows(self, variables: Mapping[str, Any], limits: Limits) -> int:
        known = [(name, _size(variables.get(size) if isinstance(size, str) else size)) for name, size in self.sizes]
        given = [(name, size) for name, size in known if size is not None]
        for name, size in given:
            if name in SIZES and size > limits.page:
                raise too_much(f"{name} is at most {limits.page}; page on with cursors", limits.page)
        return max((size for _, size in given), default=self.usual)


def _size(value: Any) -> int | None:
    if isinstance(value, list):
        return len(value)
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else None


class Pricing:
    """Prices the operations of one document."""

    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self.schema, self.fragments = schema, fragments

    def operation(self, operation: OperationDefinitionNode) -> list[Priced]:
        """The price of each root field, as far as the document alone decides it."""
        root = self.schema.get_root_type(operation.operation)
        return self._below(operation.selection_set, root, inner=False)

    def _below(self, selection_set: SelectionSetNode, parent: Any, inner: bool) -> list[Priced]:
        found: list[Priced] = []
        for node in selection_set.selections:
            if isinstance(node, FieldNode):
                found += self._field(node, parent, inner)
                continue
            fragment: Any = self.fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
            condition = fragment.type_condition
            target = parent if condition is None else type_from_ast(self.schema, condition)
            found += self._below(fragment.selection_set, target, inner)
        return found

    def _field(self, node: FieldNode, parent: Any, inner: bool) -> list[Priced]:
        fields = parent.fields if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType) else {}
        field = fields.get(node.name.value)
        if field is None or node.selection_set is None or is_leaf_type(get_named_type(field.type)):
            return []
        target: Any = get_named_type(field.type)
        paged = target.name.endswith("Connection")
        below = self._below(node.selection_set, target, paged or (inner and node.name.value == "edges"))
        if inner and node.name.value in INNER:
            return below
        many = paged or isinstance(get_nullable_type(field.type), GraphQLList)
        return [Priced(_sizes(node), _usual(field, paged), many, below)]


def _sizes(node: FieldNode) -> list[tuple[str, Any]]:
    """Each argument that tells a size: its number, or the name of the variable that holds it."""
    found: list[tuple[str, Any]] = []
    for argument in node.arguments or ():
        name, value = argument.name.value, argument.value
        if name not in SIZES and name not in LISTS:
            continue
        if isinstance(value, VariableNode):
            found.append((name, value.name.value))
        elif isinstance(value, IntValueNode):
            found.append((name, int(value.value)))
        elif isinstance(value, ListValueNode):
            found.append((name, list(value.values)))
    return found


def _usual(field: GraphQLField, paged: bool) -> int:
    """The rows when no argument is given."""
    for name in SIZES:
        argument = field.args.get(name)
        if argument is not None and isinstance(argument.default_value, int):
            return argument.default_value
    return USUAL_ROWS if paged else UNSIZED
