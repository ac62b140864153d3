"""Plans with holes: everything about a read that the query text decides, waiting for the variables.

The shape of a read (tables, relations, which totals) is fixed by the document. Only arguments depend on variables,
and most do not; those are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphql import (
    ArgumentNode,
    FieldNode,
    ListValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    get_argument_values,
)
from graphql.execution.values import VariableValues
from msgspec import Struct

from schema.selection import Choice
from ugs.catalog import Table
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.where import EVERYTHING, Where

Asked = tuple[Where, tuple[Order, ...], Page]
"""What arguments say about a read: which rows, in which order, which page."""

EVERY_ROW: Asked = (EVERYTHING, (), Page())
NO_VARIABLES = VariableValues({}, {})


class Arguments:
    """The arguments of one chosen field, worked out once as far as they hold no variables."""

    def __init__(self, choice: Choice) -> None:
        self.field = choice.parent.fields[choice.name]
        self.node = choice.nodes[0]
        given = self.node.arguments or ()
        self.constant = not any(_has_variable(argument.value) for argument in given)
        self._known = get_argument_values(self.field, self.node, NO_VARIABLES) if self.constant else None
        self._plain = _plain_variables(given)
        self._rest: dict[str, Any] | None = None

    def __call__(self, variables: VariableValues) -> dict[str, Any]:
        if self._known is not None:
            return self._known
        if self._rest is not None and self._plain is not None:
            coerced = variables.coerced
            filled = {name: coerced.get(variable) for name, variable in self._plain}
            if None not in filled.values():
                return {**self._rest, **filled}
        return self._worked_out(variables)

    def _worked_out(self, variables: VariableValues) -> dict[str, Any]:
        """By the book; what does not depend on variables is kept for the next time."""
        found = get_argument_values(self.field, self.node, variables)
        if self._plain is not None and self._rest is None:
            varying = {name for name, _ in self._plain}
            self._rest = {name: value for name, value in found.items() if name not in varying}
        return found


def _plain_variables(given: Iterable[ArgumentNode]) -> list[tuple[str, str]] | None:
    """Arguments that are just a variable; None when a variable hides deeper, so that only the book helps."""
    plain = []
    for argument in given:
        if isinstance(argument.value, VariableNode):
            plain.append((argument.name.value, argument.value.name.value))
        elif _has_variable(argument.value):
            return None
    return plain


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
        if self._known is None:
            read = self._bound(variables)
            if not self.constant:
                return read
            self._known = read
        return self._known

    def _bound(self, variables: VariableValues) -> Read:
        where, order, page = self.asked({} if self.arguments is None else self.arguments(variables))
        return Read(self.table, where, order, page, self._nested(variables), self.total)

    def _nested(self, variables: VariableValues) -> Mapping[str, Nested]:
        """The related reads; the same object every time where no variable has a say, so that stores know it again."""
        if self._nest is not None:
            return self._nest
        nest = {name: Nested(nested.relation, nested.read.bind(variables)) for name, nested in self.nest.items()}
        if all(nested.read.constant for nested in self.nest.values()):
            self._nest = nest
        return nest
