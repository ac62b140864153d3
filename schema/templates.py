"""Plans with holes: everything about a read that the query text decides, waiting for the variables.

The shape of a read (tables, relations, which totals) is fixed by the document. Only arguments depend on variables,
and most do not; those are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

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

from schema.selection import Choice
from ugs.catalog import Table
from ugs.reads.plan import WHOLE, Nested, Order, Page, Read
from ugs.reads.where import EVERYTHING, Where

Asked = tuple[Where, tuple[Order, ...], Page]
"""What arguments say about a read: which rows, in which order, which page."""

EVERY_ROW: Asked = (EVERYTHING, (), WHOLE)
NO_VARIABLES = VariableValues({}, {})
MOST_RECENT, LONG = 4_096, 200
"""So many reads are remembered with the variables that they are for, unless one of these is longer than that."""
SCALARS = frozenset({str, int, bool, type(None)})


class Unset(Exception):
    """A variable has no value, so that only the book knows what that means here."""


Filled = Callable[[Mapping[str, Any]], Any]
"""Makes a value of the variables."""


class Arguments:
    """The arguments of one chosen field, worked out once as far as they hold no variables."""

    def __init__(self, choice: Choice) -> None:
        self.field = choice.parent.fields[choice.name]
        self.node = choice.nodes[0]
        given = {argument.name.value: argument.value for argument in self.node.arguments or ()}
        varying = {name: value for name, value in given.items() if _has_variable(value)}
        self.constant = not varying
        self._known = self._by_the_book(NO_VARIABLES) if self.constant else None
        self._rest = {} if self.constant else self._constants(varying)
        self._filled = [(name, self._filler(name, value)) for name, value in varying.items()]
        self._always = all(self._is_given(name, value) for name, value in varying.items())
        """Whether all that vary always have a value."""

    def one(self, name: str) -> Callable[[VariableValues], Any]:
        """How a required argument gets its value, without a look at the others."""
        fill = dict(self._filled).get(name)
        if fill is None:
            return lambda variables: self(variables)[name]

        def value(variables: VariableValues) -> Any:
            try:
                return fill(variables.coerced)
            except Unset:
                return self._by_the_book(variables)[name]

        return value

    def __call__(self, variables: VariableValues) -> dict[str, Any]:
        if self._known is not None:
            return self._known
        try:
            values = {name: fill(variables.coerced) for name, fill in self._filled}
        except Unset:
            return self._by_the_book(variables)
        if not self._always:
            values = {name: value for name, value in values.items() if value is not Undefined}
        return {**self._rest, **values}

    def _filler(self, name: str, value: ValueNode) -> Filled:
        """How an argument gets its value; one that is a variable without a value is left out, if it may be."""
        argument = self.field.args[name]
        if self._is_given(name, value):
            return filled(value, argument.type)
        assert isinstance(value, VariableNode)
        variable, default = value.name.value, argument.default_value
        return lambda variables: variables.get(variable, default)

    def _is_given(self, name: str, value: ValueNode) -> bool:
        return not isinstance(value, VariableNode) or isinstance(self.field.args[name].type, GraphQLNonNull)

    def _by_the_book(self, variables: VariableValues) -> dict[str, Any]:
        return get_argument_values(self.field, self.node, variables)

    def _constants(self, varying: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that no variable touches, and the defaults of those that are not given."""
        found: dict[str, Any] = {}
        given = {argument.name.value: argument.value for argument in self.node.arguments or ()}
        for name, argument in self.field.args.items():
            if name in varying:
                continue
            if name in given:
                found[name] = value_from_ast(given[name], argument.type)
            elif argument.default_value is not Undefined:
                found[name] = argument.default_value
        return found


def filled(value: ValueNode, type: Any) -> Filled:
    """How a literal with variables in it becomes a value."""
    if not _has_variable(value):
        known = value_from_ast(value, type)
        return lambda variables: known
    inner = get_nullable_type(type)
    if isinstance(value, VariableNode):
        return _variable(value.name.value)
    if isinstance(value, ObjectValueNode) and isinstance(inner, GraphQLInputObjectType):
        return _object(value, inner)
    if isinstance(value, ListValueNode) and isinstance(inner, GraphQLList):
        items = [filled(item, inner.of_type) for item in value.values]
        return lambda variables: [item(variables) for item in items]
    return _unset


def _variable(name: str) -> Filled:
    def fill(variables: Mapping[str, Any]) -> Any:
        value = variables.get(name)
        if value is None:
            raise Unset
        return value

    return fill


class Plain(NamedTuple):
    """An object of which each field is a variable, or known."""

    variables: dict[str, str]
    known: dict[str, Any]


def plain_object(value: ValueNode, type: Any) -> Plain | None:
    """A literal as such an object, if it is one."""
    if not isinstance(value, ObjectValueNode) or not isinstance(type, GraphQLInputObjectType):
        return None
    given = {field.name.value: field.value for field in value.fields}
    variables = {name: part.name.value for name, part in given.items() if isinstance(part, VariableNode)}
    rest = {name: part for name, part in given.items() if name not in variables}
    if any(map(_has_variable, rest.values())):
        return None
    known = {name: value_from_ast(part, type.fields[name].type) for name, part in rest.items()}
    return Plain(variables, {**_defaults(type, given), **known})


def _defaults(type: GraphQLInputObjectType, given: Container[str]) -> dict[str, Any]:
    """What fields that are not given have all the same."""
    return {
        name: field.default_value
        for name, field in type.fields.items()
        if name not in given and field.default_value is not Undefined
    }


def _object(value: ObjectValueNode, type: GraphQLInputObjectType) -> Filled:
    given = [(field.name.value, field.value) for field in value.fields]
    defaults = _defaults(type, {name for name, _ in given})
    variable = {name: part.name.value for name, part in given if isinstance(part, VariableNode)}
    other = [(name, filled(part, type.fields[name].type)) for name, part in given if name not in variable]

    def fill(variables: Mapping[str, Any]) -> Any:
        values = {name: variables.get(its) for name, its in variable.items()}
        if None in values.values():
            raise Unset
        return type.out_type({**defaults, **values, **{name: fill_one(variables) for name, fill_one in other}})

    return fill


def _unset(variables: Mapping[str, Any]) -> Any:
    raise Unset


def _has_variable(value: ValueNode | FieldNode) -> bool:
    if isinstance(value, VariableNode):
        return True
    if isinstance(value, ListValueNode):
        return any(_has_variable(item) for item in value.values)
    return isinstance(value, ObjectValueNode) and any(_has_variable(field.value) for field in value.fields)


class NestedTemplate(Struct, frozen=True):
    """A related read with holes."""

    relation: str
    read: ReadTemplate


class ReadTemplate:
    """A read with holes."""

    def __init__(
        self,
        table: Table,
        nest: Mapping[str, NestedTemplate],
        total: bool = False,
        arguments: Arguments | None = None,
        asked: Callable[[dict[str, Any]], Asked] = lambda arguments: EVERY_ROW,
    ) -> None:
        self.table, self.nest, self.total = table, dict(nest), total
        self.arguments, self.asked = arguments, asked
        own = arguments is None or arguments.constant
        self.constant: bool = own and all(nested.read.constant for nested in self.nest.values())
        self._known: Read | None = None
        self._nest: Mapping[str, Nested] | None = None

    def bind(self, variables: VariableValues) -> Read:
        """The read for these variables."""
        if self._known is not None:
            return self._known
        if self.constant:
            self._known = self._bound(variables)
            return self._known
        return self._bound(variables) if self.arguments is None else self._recently(variables)

    def _recently(self, variables: VariableValues) -> Read:
        """The read for these variables, worked out now or lately."""
        if not all(map(_is_short, variables.coerced.values())):
            return self._bound(variables)
        # With their types, since 1 and true pass for one another.
        given = (self, *((name, type(value), value) for name, value in variables.coerced.items()))
        found = _recent.get(given)
        if found is None:
            if len(_recent) >= MOST_RECENT:
                _recent.clear()
            found = _recent[given] = self._bound(variables)
        return found

    def _bound(self, variables: VariableValues) -> Read:
        where, order, page = self.asked({} if self.arguments is None else self.arguments(variables))
        table = self.table.counting(part.field for part in order) if order else self.table
        return Read(table, where, order, page, self._nested(variables), self.total)

    def _nested(self, variables: VariableValues) -> Mapping[str, Nested]:
        """The related reads; the same object every time where no variable has a say, so that stores know it again."""
        if self._nest is not None:
            return self._nest
        nest = {name: Nested(nested.relation, nested.read.bind(variables)) for name, nested in self.nest.items()}
        if all(nested.read.constant for nested in self.nest.values()):
            self._nest = nest
        return nest


_recent: dict[tuple[Any, ...], Read] = {}


def _is_short(value: Any) -> bool:
    return type(value) in SCALARS and (type(value) is not str or len(value) <= LONG)
