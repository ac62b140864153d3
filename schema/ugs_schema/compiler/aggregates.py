"""Compiles `aggregate` on connections: what to aggregate, and how the result is shown.

`aggregate` and each `groupBy` below it are one `Aggregation` of the connection's read, named by the path of response
keys. Their fields `sum`, `avg`, `min` and `max` say by arguments which value they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphql.execution.values import VariableValues

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.reads.aggregation import Aggregation, Group, Sum, Value
from ugs.reads.plan import ResultPage
from ugs.reads.rendering import ComputedPart, RenderArgs, json_of
from ugs.values import check_key
from ugs_schema.compiler.plan_templates import Arguments
from ugs_schema.compiler.selection import SelectedField, Selection

ParseValue = Callable[[Any], Value]
"""Which value the arguments of a field, or an entry of `by`, name; raises where there is none."""
SUMS: Mapping[str, Callable[[Sum], float | None]] = {"sum": lambda found: found.sum, "avg": lambda found: found.average}
RANGES = {"min": 0, "max": 1}
PROPERTIES_FIELD = "properties_text"
MAX_GROUP_KEYS = 4
MAX_AGGREGATED_VALUES = 16
DEFAULT_GROUPS, MAX_GROUPS = 20, 500


class AggregateTemplate:
    """An aggregation with placeholders for variables."""

    def __init__(
        self, selection: Selection, name: str, selected_field: SelectedField, parse_value: ParseValue, grouped: bool
    ) -> None:
        self.name, self.parse_value = name, parse_value
        self._grouping = Arguments(selected_field) if grouped else None
        fields = selection.collect_subfields(selected_field).values()
        self._sums = [Arguments(field) for field in fields if field.name in SUMS]
        self._ranges = [Arguments(field) for field in fields if field.name in RANGES]
        used = [*self._sums, *self._ranges, *([] if self._grouping is None else [self._grouping])]
        self.constant = all(arguments.constant for arguments in used)

    def bind(self, variables: VariableValues) -> Aggregation:
        """The aggregation for these variables."""
        by: tuple[Value, ...] = ()
        limit: int | None = None
        if self._grouping is not None:
            by, limit = parse_grouping(self._grouping(variables), self.parse_value)
        sums, ranges = self._parse(self._sums, variables), self._parse(self._ranges, variables)
        if len({*by, *sums, *ranges}) > MAX_AGGREGATED_VALUES:
            reason = f"aggregate looks at no more than {MAX_AGGREGATED_VALUES} fields and properties at once"
            raise LimitExceeded(reason, limit=MAX_AGGREGATED_VALUES)
        return Aggregation(by, sums, ranges, limit)

    def _parse(self, fields: Sequence[Arguments], variables: VariableValues) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self.parse_value(arguments(variables)) for arguments in fields))


def parse_named_value(columns: Mapping[str, str], arguments: Mapping[str, Any]) -> Value:
    """The field or property that arguments name; `columns` has the column of each field."""
    field, key = arguments.get("field"), arguments.get("property")
    if (field is None) == (key is None):
        raise InvalidSyntax("aggregates are of a field or of a property: give one of the two")
    if key is not None:
        return Value(PROPERTIES_FIELD, check_key(key))
    return Value(columns[str(getattr(field, "value", field))])


def parse_grouping(arguments: Mapping[str, Any], parse_value: ParseValue) -> tuple[tuple[Value, ...], int]:
    """The values that `groupBy` groups by, and how many groups it shows."""
    by = tuple(map(parse_value, arguments["by"]))
    if not by:
        raise InvalidSyntax("groupBy takes at least one field or property to group by")
    if len(by) > MAX_GROUP_KEYS:
        raise LimitExceeded(f"groupBy groups by at most {MAX_GROUP_KEYS} values", limit=MAX_GROUP_KEYS)
    first = arguments.get("first")
    limit = DEFAULT_GROUPS if first is None else first
    if limit < 0:
        raise InvalidSyntax("first must not be negative")
    if limit > MAX_GROUPS:
        raise LimitExceeded(f"groupBy shows at most {MAX_GROUPS} groups; narrow the filter", limit=MAX_GROUPS)
    return by, limit


def build_aggregate_templates(
    selection: Selection, fields: Mapping[str, SelectedField], parse_value: ParseValue
) -> list[AggregateTemplate]:
    """The aggregations that the fields of a connection ask for."""
    found = []
    for field in fields.values():
        if field.name != "aggregate":
            continue
        found.append(AggregateTemplate(selection, field.key, field, parse_value, grouped=False))
        for inner in selection.collect_subfields(field).values():
            if inner.name == "groupBy":
                name = f"{field.key}/{inner.key}"
                found.append(AggregateTemplate(selection, name, inner, parse_value, grouped=True))
    return found


def needs_rows(fields: Mapping[str, SelectedField]) -> bool:
    """Whether the fields of a connection show rows, or say where the page stands."""
    return any(field.name in ("nodes", "edges", "pageInfo") for field in fields.values())


# ── what is shown ────────────────────────────────────────────────────────────

GroupWriter = Callable[[Group, ResultPage, RenderArgs], str]
RegisterBinder = Callable[[Callable[[Any], Any]], int]


def compile_aggregate(
    selection: Selection, selected_field: SelectedField, parse_value: ParseValue, register: RegisterBinder
) -> ComputedPart:
    """The rendering of `aggregate`; `register` adds a function of the variables to the arguments of the rendering."""
    write, name = (
        _compile_group(selection, selected_field, selected_field.key, parse_value, register),
        selected_field.key,
    )
    return ComputedPart(lambda rows, late: write(rows.aggregates[name][0], rows, late))


def _compile_group(
    selection: Selection, selected_field: SelectedField, name: str, parse_value: ParseValue, register: RegisterBinder
) -> GroupWriter:
    fields = selection.collect_subfields(selected_field).values()
    parts = [(f'"{field.key}":', _compile_field(selection, field, name, parse_value, register)) for field in fields]

    def write(group: Group, rows: ResultPage, late: RenderArgs) -> str:
        return "{" + ",".join([head + part(group, rows, late) for head, part in parts]) + "}"

    return write


def _compile_field(
    selection: Selection, field: SelectedField, name: str, parse_value: ParseValue, register: RegisterBinder
) -> GroupWriter:
    if field.name == "count":
        return lambda group, rows, late: str(group.count)
    if field.name == "keys":
        return lambda group, rows, late: json_of(group.keys)
    if field.name == "groupBy":
        path = f"{name}/{field.key}"
        write = _compile_group(selection, field, path, parse_value, register)
        return lambda group, rows, late: (
            "[" + ",".join([write(inner, rows, late) for inner in rows.aggregates[path]]) + "]"
        )
    if field.name == "__typename":
        type_name = json_of(field.parent.name)
        return lambda group, rows, late: type_name
    arguments = Arguments(field)
    index = register(lambda variables: parse_value(arguments(variables)))
    return lambda group, rows, late: json_of(get_aggregate(group, field.name, late[index]))


def get_aggregate(group: Group, name: str, value: Value) -> Any:
    """What a field of a group shows of a value."""
    if name in SUMS:
        return SUMS[name](group.sums[value])
    return group.ranges[value][RANGES[name]]
