"""Plan templates: read plans with placeholders for variables.

Tables, relations and totals of a read are fixed by the document. Only arguments depend on variables, and most do not;
constant arguments are coerced once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Protocol

from graphql import (
    FieldNode,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    ListValueNode,
    ObjectValueNode,
    Undefined,
    ValueNode,
    VariableNode,
    get_argument_values,
    get_nullable_type,
    value_from_ast,
)
from graphql.execution.values import VariableValues
from msgspec import Struct

from ugs.reads.aggregation import Aggregation
from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.plan import WHOLE, Nested, Order, Page, Read
from ugs.support.bounded_cache import BoundedCache
from ugs.tables import Table
from ugs_schema.compiler.selection import SelectedField

ReadCriteria = tuple[Where, tuple[Order, ...], Page]
"""The part of a read that arguments determine: condition, order, page."""

ALL_ROWS: ReadCriteria = (EVERYTHING, (), WHOLE)
NO_VARIABLES = VariableValues({}, {})
CACHE_SIZE, CACHE_BYTES, READ_BYTES, MAX_CACHED_TEXT_CHARS = 4_096, 16 << 20, 4_096, 200
"""Bounds of the cache of bound reads, and the estimated memory of one. Only reads whose variables are all scalars, with
strings of at most `MAX_CACHED_TEXT_CHARS`, are cached."""
SCALARS = frozenset({str, int, bool, type(None)})


class MissingVariable(Exception):
    """A variable is null or missing, or stands where it cannot be compiled; graphql-core coerces the arguments instead
    (`_coerce_by_spec`)."""


ValueFactory = Callable[[Mapping[str, Any]], Any]
"""Makes an argument value from the coerced variables."""


class Arguments:
    """The arguments of one selected field; those without variables are coerced once."""

    def __init__(self, selected_field: SelectedField) -> None:
        self.field = selected_field.parent.fields[selected_field.name]
        self.node = selected_field.nodes[0]
        literals = {argument.name.value: argument.value for argument in self.node.arguments or ()}
        varying = {name: value for name, value in literals.items() if _has_variable(value)}
        self.constant = not varying
        self._constant_value = self._coerce_by_spec(NO_VARIABLES) if self.constant else None
        self._constants = {} if self.constant else self._coerce_constants(varying)
        self._factories = [(name, self._compile_argument(name, value)) for name, value in varying.items()]
        self._all_required = all(self._is_always_set(name, value) for name, value in varying.items())
        """Whether no argument with variables can be absent."""

    def make_getter(self, name: str) -> Callable[[VariableValues], Any]:
        """A function that gives a required argument without evaluating the others."""
        fill = dict(self._factories).get(name)
        if fill is None:
            return lambda variables: self(variables)[name]

        def value(variables: VariableValues) -> Any:
            try:
                return fill(variables.coerced)
            except MissingVariable:
                return self._coerce_by_spec(variables)[name]

        return value

    def __call__(self, variables: VariableValues) -> dict[str, Any]:
        if self._constant_value is not None:
            return self._constant_value
        try:
            values = {name: fill(variables.coerced) for name, fill in self._factories}
        except MissingVariable:
            return self._coerce_by_spec(variables)
        if not self._all_required:
            values = {name: value for name, value in values.items() if value is not Undefined}
        return {**self._constants, **values}

    def _compile_argument(self, name: str, value: ValueNode) -> ValueFactory:
        """A function that gives an argument; a nullable argument whose variable is missing gets its default or is left
        out."""
        argument = self.field.args[name]
        if self._is_always_set(name, value):
            return compile_literal(value, argument.type)
        assert isinstance(value, VariableNode)
        variable, default = value.name.value, argument.default_value
        return lambda variables: variables.get(variable, default)

    def _is_always_set(self, name: str, value: ValueNode) -> bool:
        return not isinstance(value, VariableNode) or isinstance(self.field.args[name].type, GraphQLNonNull)

    def _coerce_by_spec(self, variables: VariableValues) -> dict[str, Any]:
        return get_argument_values(self.field, self.node, variables)

    def _coerce_constants(self, varying: Mapping[str, Any]) -> dict[str, Any]:
        """The constant arguments, and the defaults of those that are not given."""
        found: dict[str, Any] = {}
        literals = {argument.name.value: argument.value for argument in self.node.arguments or ()}
        for name, argument in self.field.args.items():
            if name in varying:
                continue
            if name in literals:
                found[name] = value_from_ast(literals[name], argument.type)
            elif argument.default_value is not Undefined:
                found[name] = argument.default_value
        return found


def compile_literal(value: ValueNode, type: Any) -> ValueFactory:
    """Compile a literal that may contain variables to a function of the variables."""
    if not _has_variable(value):
        constants = value_from_ast(value, type)
        return lambda variables: constants
    inner = get_nullable_type(type)
    if isinstance(value, VariableNode):
        return _compile_variable(value.name.value)
    if isinstance(value, ObjectValueNode) and isinstance(inner, GraphQLInputObjectType):
        return _compile_object(value, inner)
    if isinstance(value, ListValueNode) and isinstance(inner, GraphQLList):
        items = [compile_literal(item, inner.of_type) for item in value.values]
        return lambda variables: [item(variables) for item in items]
    return _raise_missing


def _compile_variable(name: str) -> ValueFactory:
    def fill(variables: Mapping[str, Any]) -> Any:
        value = variables.get(name)
        if value is None:
            raise MissingVariable
        return value

    return fill


def _collect_defaults(type: GraphQLInputObjectType, literals: Container[str]) -> dict[str, Any]:
    """The default values of fields that are not given."""
    return {
        name: field.default_value
        for name, field in type.fields.items()
        if name not in literals and field.default_value is not Undefined
    }


def _compile_object(value: ObjectValueNode, type: GraphQLInputObjectType) -> ValueFactory:
    literals = [(field.name.value, field.value) for field in value.fields]
    defaults = _collect_defaults(type, {name for name, _ in literals})
    variable = {name: part.name.value for name, part in literals if isinstance(part, VariableNode)}
    other = [(name, compile_literal(part, type.fields[name].type)) for name, part in literals if name not in variable]

    def fill(variables: Mapping[str, Any]) -> Any:
        values = {name: variables.get(variable_name) for name, variable_name in variable.items()}
        if None in values.values():
            raise MissingVariable
        return type.out_type({**defaults, **values, **{name: fill_one(variables) for name, fill_one in other}})

    return fill


def _raise_missing(variables: Mapping[str, Any]) -> Any:
    raise MissingVariable


def _has_variable(value: ValueNode | FieldNode) -> bool:
    if isinstance(value, VariableNode):
        return True
    if isinstance(value, ListValueNode):
        return any(_has_variable(item) for item in value.values)
    return isinstance(value, ObjectValueNode) and any(_has_variable(field.value) for field in value.fields)


class NestedTemplate(Struct, frozen=True):
    """A nested read template with its relation."""

    relation: str
    read: ReadTemplate


class BoundAggregate(Protocol):
    """An aggregation with placeholders for variables (`ugs_schema.compiler.aggregates`)."""

    name: str
    constant: bool

    def bind(self, variables: VariableValues) -> Aggregation: ...


class ReadTemplate:
    """A read plan with placeholders for variables."""

    def __init__(
        self,
        table: Table,
        nest: Mapping[str, NestedTemplate],
        total: bool = False,
        arguments: Arguments | None = None,
        parse_criteria: Callable[[dict[str, Any]], ReadCriteria] = lambda arguments: ALL_ROWS,
        aggregates: Sequence[BoundAggregate] = (),
    ) -> None:
        self.table, self.nest, self.total = table, dict(nest), total
        self.arguments, self.parse_criteria = arguments, parse_criteria
        self.aggregates = aggregates
        own = (arguments is None or arguments.constant) and all(one.constant for one in aggregates)
        self.constant: bool = own and all(nested.read.constant for nested in self.nest.values())
        self._constant_value: Read | None = None
        self._nest: Mapping[str, Nested] | None = None

    def bind(self, variables: VariableValues) -> Read:
        """The read plan for these variables."""
        if self._constant_value is not None:
            return self._constant_value
        if self.constant:
            self._constant_value = self._bind_uncached(variables)
            return self._constant_value
        return self._bind_uncached(variables) if self.arguments is None else self._bind_cached(variables)

    def _bind_cached(self, variables: VariableValues) -> Read:
        """The read plan for these variables, from the cache if all of them are short scalars."""
        if not all(map(_is_short, variables.coerced.values())):
            return self._bind_uncached(variables)
        # The types are part of the key, because 1 == True in Python.
        literals = (self, *((name, type(value), value) for name, value in variables.coerced.items()))
        found = _bound_reads.get(literals)
        if found is None:
            found = self._bind_uncached(variables)
            _bound_reads.put(literals, found, READ_BYTES)
        return found

    def _bind_uncached(self, variables: VariableValues) -> Read:
        where, order, page = self.parse_criteria({} if self.arguments is None else self.arguments(variables))
        table = self.table.counting(part.field for part in order) if order else self.table
        aggregates = {one.name: one.bind(variables) for one in self.aggregates}
        return Read(table, where, order, page, self._bind_nested(variables), self.total, aggregates)

    def _bind_nested(self, variables: VariableValues) -> Mapping[str, Nested]:
        """The nested reads. If they are constant the same object is returned each time, so that stores can cache by
        identity."""
        if self._nest is not None:
            return self._nest
        nest = {name: Nested(nested.relation, nested.read.bind(variables)) for name, nested in self.nest.items()}
        if all(nested.read.constant for nested in self.nest.values()):
            self._nest = nest
        return nest


_bound_reads: BoundedCache[tuple[Any, ...], Read] = BoundedCache(CACHE_SIZE, CACHE_BYTES)


def _is_short(value: Any) -> bool:
    return type(value) in SCALARS and (type(value) is not str or len(value) <= MAX_CACHED_TEXT_CHARS)
