"""The selected fields of a document, with fragments, directives and arguments resolved.

Keyed by response key, because two aliases of one field may have different arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLSkipDirective,
    InlineFragmentNode,
    SelectionSetNode,
    get_argument_values,
    get_directive_values,
    get_named_type,
    is_abstract_type,
    type_from_ast,
)
from graphql.execution.values import VariableValues


class SelectedField(NamedTuple):
    """One selected field; `nodes` are its occurrences, which are merged."""

    key: str
    name: str
    nodes: list[FieldNode]
    parent: GraphQLObjectType


class Selection:
    """A document with its variables, as a tree of selected fields."""

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: VariableValues
    ) -> None:
        self.schema = schema
        self.fragments = fragments
        self.variables = variables

    @classmethod
    def from_info(cls, info: GraphQLResolveInfo[Any]) -> Selection:
        """The selection of the operation that a resolver runs in."""
        variables: Any = info.variable_values
        known = variables if isinstance(variables, VariableValues) else VariableValues({}, dict(variables))
        return cls(info.schema, info.fragments, known)

    def collect_subfields(
        self, selected_field: SelectedField, type_name: str | None = None
    ) -> dict[str, SelectedField]:
        """The fields selected below a field; for an interface or union, those that apply to the named type."""
        field = selected_field.parent.fields[selected_field.name]
        target = get_named_type(field.type) if type_name is None else self.schema.type_map[type_name]
        assert isinstance(target, GraphQLObjectType)
        return self.fields(target, (node.selection_set for node in selected_field.nodes if node.selection_set))

    def fields(self, target: GraphQLObjectType, sets: Iterable[SelectionSetNode]) -> dict[str, SelectedField]:
        """The fields of a type in these selection sets, by response key."""
        selected: dict[str, SelectedField] = {}
        for selection_set in sets:
            self._collect(target, selection_set, selected, set())
        return selected

    def _collect(
        self,
        target: GraphQLObjectType,
        selection_set: SelectionSetNode,
        selected: dict[str, SelectedField],
        seen: set[str],
    ) -> None:
        for node in selection_set.selections:
            if not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                key = node.alias.value if node.alias else node.name.value
                selected.setdefault(key, SelectedField(key, node.name.value, [], target)).nodes.append(node)
            else:
                self._collect_fragment(target, node, selected, seen)

    def _collect_fragment(
        self, target: GraphQLObjectType, node: Any, selected: dict[str, SelectedField], seen: set[str]
    ) -> None:
        fragment: Any = node
        if isinstance(node, FragmentSpreadNode):
            if node.name.value in seen:
                return
            seen.add(node.name.value)
            fragment = self.fragments[node.name.value]
        if self._matches_type(fragment, target):
            self._collect(target, fragment.selection_set, selected, seen)

    def _matches_type(self, fragment: InlineFragmentNode | FragmentDefinitionNode, target: GraphQLObjectType) -> bool:
        if fragment.type_condition is None:
            return True
        named = type_from_ast(self.schema, fragment.type_condition)
        return named is target or (is_abstract_type(named) and self.schema.is_sub_type(named, target))

    def _is_included(self, node: Any) -> bool:
        if not node.directives:
            return True
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and not (include and not include["if"])

    def arguments(self, selected_field: SelectedField) -> dict[str, Any]:
        """The field's coerced arguments."""
        return get_argument_values(
            selected_field.parent.fields[selected_field.name], selected_field.nodes[0], self.variables
        )


def get_selected_field(info: GraphQLResolveInfo[Any]) -> SelectedField:
    """The field whose resolver is running."""
    return SelectedField(str(info.path.key), info.field_name, list(info.field_nodes), info.parent_type)
