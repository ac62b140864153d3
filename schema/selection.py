"""What a client chose: the fields below a place in the query, with fragments, directives and arguments worked out.

Keyed by response key, because two aliases of one field may carry different arguments.
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


class Choice(NamedTuple):
    """One chosen field."""

    key: str
    name: str
    nodes: list[FieldNode]
    parent: GraphQLObjectType


class Selection:
    """A query document with its variables, as a tree of choices."""

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: VariableValues
    ) -> None:
        self.schema = schema
        self.fragments = fragments
        self.variables = variables

    @classmethod
    def of(cls, info: GraphQLResolveInfo[Any]) -> Selection:
        """The selection around a resolver."""
        variables: Any = info.variable_values
        known = variables if isinstance(variables, VariableValues) else VariableValues({}, dict(variables))
        return cls(info.schema, info.fragments, known)

    def below(self, choice: Choice, type_name: str | None = None) -> dict[str, Choice]:
        """The fields chosen below a field; for an interface or union, those that apply to the named type."""
        field = choice.parent.fields[choice.name]
        target = get_named_type(field.type) if type_name is None else self.schema.type_map[type_name]
        assert isinstance(target, GraphQLObjectType)
        return self.fields(target, (node.selection_set for node in choice.nodes if node.selection_set))

    def fields(self, target: GraphQLObjectType, sets: Iterable[SelectionSetNode]) -> dict[str, Choice]:
        """The fields of a type that selection sets choose, by response key."""
        found: dict[str, Choice] = {}
        for selection_set in sets:
            self._collect(target, selection_set, found, set())
        return found

    def _collect(
        self, target: GraphQLObjectType, selection_set: SelectionSetNode, found: dict[str, Choice], seen: set[str]
    ) -> None:
        for node in selection_set.selections:
            if not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                key = node.alias.value if node.alias else node.name.value
                found.setdefault(key, Choice(key, node.name.value, [], target)).nodes.append(node)
            else:
                self._collect_fragment(target, node, found, seen)

    def _collect_fragment(self, target: GraphQLObjectType, node: Any, found: dict[str, Choice], seen: set[str]) -> None:
        fragment: Any = node
        if isinstance(node, FragmentSpreadNode):
            if node.name.value in seen:
                return
            seen.add(node.name.value)
            fragment = self.fragments[node.name.value]
        if self._applies(fragment, target):
            self._collect(target, fragment.selection_set, found, seen)

    def _applies(self, fragment: InlineFragmentNode | FragmentDefinitionNode, target: GraphQLObjectType) -> bool:
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

    def arguments(self, choice: Choice) -> dict[str, Any]:
        """The field's arguments with variables and defaults filled in."""
        return get_argument_values(choice.parent.fields[choice.name], choice.nodes[0], self.variables)


def own_choice(info: GraphQLResolveInfo[Any]) -> Choice:
    """The field whose resolver is running."""
    return Choice(str(info.path.key), info.field_name, list(info.field_nodes), info.parent_type)
