"""Compiled mutations: inputs built from coerced values, and payloads rendered without graphql-core.

The resolver does the work, unless the mutation is a single command (`ugs_schema.compiler.command_mutations`), which can
be submitted to the kernel directly. One function per input type builds the resolver's arguments, one per selection
renders its result. A selection with arguments or with fields that read the store raises `NotCompilable` at compile
time, before anything has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from operator import attrgetter
from typing import Any

from graphql import (
    ExecutionResult,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    OperationDefinitionNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    located_error,
)
from graphql.execution.values import VariableValues
from msgspec import Struct

from ugs.feature import Command
from ugs.graph.api import single_result
from ugs.reads.plan import Read
from ugs.reads.rendering import NULL, json_of, row_writer
from ugs.writer import Outcome
from ugs_schema.compiler.command_mutations import COMMAND_MUTATIONS
from ugs_schema.compiler.input_factories import STRAWBERRY_DEFINITION, Factory, make_factory
from ugs_schema.compiler.plan_templates import Arguments
from ugs_schema.compiler.response_plan import Compiler
from ugs_schema.compiler.row_types import ROW_TYPES, NotCompilable, build_nests_below
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.context import RequestContext

Write = Callable[[Any], str]

COMPILED_MUTATIONS = frozenset(
    {
        "addNode",
        "updateNode",
        "upsertNode",
        "upsertEdge",
        "deleteNode",
        "addEdge",
        "updateEdge",
        "deleteEdge",
        "delete",
        "applyBatch",
        "revertElement",
    }
)
"""Mutations whose resolvers use nothing of `info` but the context."""


class ResolverInfo(Struct, frozen=True):
    """The `info` of a compiled mutation's resolver."""

    context: RequestContext


class CommandRequest(Struct, frozen=True):
    """A mutation that is a single command: the command, its idempotency key, and the input it was made from."""

    command: Command
    key: str | None
    input: Any


class CompiledMutation:
    """A compiled mutation with one root field."""

    def __init__(self, compiler: Compiler, selected_field: SelectedField) -> None:
        field = get_own_field(selected_field, COMPILED_MUTATIONS)
        resolver = field.extensions[STRAWBERRY_DEFINITION]
        self.selected_field, self.arguments = selected_field, Arguments(selected_field)
        self.names = {argument.python_name: name for argument, name in zip(resolver.arguments, field.args, strict=True)}
        self.factories = {name: make_factory(argument.type) for name, argument in field.args.items()}
        self.resolve: Callable[..., Awaitable[Any]] = resolver.base_resolver.wrapped_func
        self.write = make_writer(compiler, selected_field, field.type)
        self.direct = COMMAND_MUTATIONS.get(selected_field.name)

    async def run(self, context: RequestContext, variables: VariableValues) -> bytes | ExecutionResult:
        """Run the resolver and render its result; errors have the format of graphql-core."""
        try:
            return self._render(await self.resolve(None, ResolverInfo(context), **self._build_arguments(variables)))
        except Exception as error:
            return self.refused(error)

    def command_request(self, variables: VariableValues) -> CommandRequest | None:
        """The command to submit, if the mutation is a single command, else None."""
        if self.direct is None:
            return None
        try:
            (input,) = self._build_arguments(variables).values()
            return CommandRequest(self.direct.command(input), input.idempotency_key, input)
        except Exception:
            return None  # run reports the error

    def render_outcome(self, input: Any, outcome: Outcome) -> bytes | None:
        """The result of a submitted command; None if rendering needs further reads (`complete`)."""
        assert self.direct is not None
        done = single_result(outcome)
        payload = None if done is None else self.direct.payload(done, input)
        return None if payload is None else self._render(payload)

    async def complete(self, context: RequestContext, input: Any, outcome: Outcome) -> bytes | ExecutionResult:
        """Render the result of a submitted command where that needs further reads."""
        assert self.direct is not None
        try:
            done = await context.graph.changed_by(outcome)
            return self._render(await self.direct.load_payload(ResolverInfo(context), done, input))
        except Exception as error:
            return self.refused(error)

    def refused(self, error: Exception) -> ExecutionResult:
        """The error result of a mutation that was not done."""
        return ExecutionResult(None, [located_error(error, self.selected_field.nodes, [self.selected_field.key])])

    def _build_arguments(self, variables: VariableValues) -> dict[str, Any]:
        """The keyword arguments of the resolver."""
        input = self.arguments(variables)
        return {own: self.factories[name](input[name]) for own, name in self.names.items() if name in input}

    def _render(self, payload: Any) -> bytes:
        return f'{{"data":{{"{self.selected_field.key}":{self.write(payload)}}}}}'.encode()


def get_own_field(selected_field: SelectedField, names: Container[str]) -> GraphQLField:
    """The selected field, if it is one of these names of our own schema; generated schemas may use the same names."""
    field: GraphQLField = selected_field.parent.fields[selected_field.name]
    if selected_field.name not in names or STRAWBERRY_DEFINITION not in field.extensions:
        raise NotCompilable(selected_field.name)
    return field


def compile_mutation(selection: Selection, operation: OperationDefinitionNode) -> CompiledMutation:
    """Compile a mutation, or raise `NotCompilable`."""
    mutation = selection.schema.mutation_type
    if not isinstance(mutation, GraphQLObjectType):
        raise NotCompilable(operation.operation.value)
    selected_fields = selection.fields(mutation, [operation.selection_set])
    if len(selected_fields) != 1:
        raise NotCompilable("several changes in a row")
    (selected_field,) = selected_fields.values()
    return CompiledMutation(Compiler(selection), selected_field)


# ── payloads ─────────────────────────────────────────────────────────────────


def make_writer(compiler: Compiler, selected_field: SelectedField, type: Any) -> Write:
    """The rendering function for the value of a field."""
    inner = get_nullable_type(type)
    write = (
        _make_list_writer(compiler, selected_field, inner)
        if isinstance(inner, GraphQLList)
        else _make_value_writer(compiler, selected_field)
    )
    if not isinstance(type, GraphQLNonNull):
        return lambda value: NULL if value is None else write(value)

    def required(value: Any) -> str:
        if value is None:
            raise TypeError("nothing where there must be something")
        return write(value)

    return required


def _make_list_writer(compiler: Compiler, selected_field: SelectedField, type: GraphQLList[Any]) -> Write:
    write = make_writer(compiler, selected_field, type.of_type)
    return lambda values: "[" + ",".join([write(value) for value in values]) + "]"


def _make_value_writer(compiler: Compiler, selected_field: SelectedField) -> Write:
    named: Any = get_named_type(selected_field.parent.fields[selected_field.name].type)
    if is_leaf_type(named):
        return lambda value: json_of(named.serialize(value))
    if named.name in ROW_TYPES:
        return _make_element_writer(compiler, selected_field, named.name)
    if not isinstance(named, GraphQLObjectType):
        raise NotCompilable(named.name)
    return _make_object_writer(compiler, selected_field, named)


def _make_element_writer(compiler: Compiler, selected_field: SelectedField, name: str) -> Write:
    """A node or an edge; one that needs related rows is left to graphql-core."""
    row_type = ROW_TYPES[name]
    if build_nests_below(compiler.selection, selected_field, row_type):
        raise NotCompilable(selected_field.name)
    body = compiler.row(selected_field, row_type)
    if compiler.binders:
        raise NotCompilable(selected_field.name)
    write, read = row_writer(body), Read(row_type.table)
    return lambda element: write(element.result_row, read, [], None)


def _make_object_writer(compiler: Compiler, selected_field: SelectedField, type: GraphQLObjectType) -> Write:
    parts = []
    for number, field in enumerate(compiler.selection.collect_subfields(selected_field).values()):
        head = f'{"," if number else "{"}"{field.key}":'
        parts.append((head, *_make_field_writer(compiler, field, type)))
    return lambda value: "".join([head + write(get(value)) for head, get, write in parts]) + "}"


def _make_field_writer(compiler: Compiler, field: SelectedField, type: GraphQLObjectType) -> tuple[Factory, Write]:
    """The functions that get a field's value from its object and render it."""
    if field.name == "__typename":
        return lambda value: None, lambda value: f'"{type.name}"'
    definition = type.fields[field.name].extensions[STRAWBERRY_DEFINITION]
    resolver = definition.base_resolver
    if resolver is None:
        name = definition.python_name
        return attrgetter(name), make_writer(compiler, field, type.fields[field.name].type)
    if resolver.is_async or resolver.arguments or resolver.info_parameter is not None:
        raise NotCompilable(field.name)
    return resolver.wrapped_func, make_writer(compiler, field, type.fields[field.name].type)
