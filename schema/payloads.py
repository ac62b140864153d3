"""Mutations the short way: inputs made from coerced values, and payloads written without the executor.

The resolver of a mutation does the work, as ever, unless the change is but one command (`schema.direct`): that can be
asked of the kernel without it. What a resolver takes and gives are ordinary objects of ours, so one function per input
type makes the first and one per selection writes the second. Whatever is not plain about a selection (a field with
arguments, one that must ask the store) raises `NotCompiled` before anything has happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from functools import partial
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

from schema.context import RequestContext
from schema.direct import DIRECT, Direct
from schema.making import OURS, Make, maker_of, straight_maker
from schema.selection import Choice, Selection
from schema.shapes import SHAPES, nests_below
from schema.templates import Arguments
from schema.writers import Compiler, NotCompiled
from ugs.api import changed_one
from ugs.feature import Command
from ugs.reads.plan import Read
from ugs.reads.rendering import NULL, json_of, row_writer
from ugs.writer import Outcome

Write = Callable[[Any], str]
Seal = Callable[[bytes], bytes]
"""How a body becomes what goes over the wire."""

COMPILED = frozenset(
    {
        "addNode",
        "updateNode",
        "upsertNode",
        "deleteNode",
        "addEdge",
        "updateEdge",
        "deleteEdge",
        "delete",
        "applyBatch",
        "revertElement",
    }
)
"""Mutations whose resolvers need nothing around them but the context."""


class Surroundings(Struct, frozen=True):
    """What a resolver of a compiled mutation finds as its `info`."""

    context: RequestContext


class Asking(Struct, frozen=True):
    """A command, and what is answered to whoever asked for it."""

    command: Command
    key: str | None
    tell: Callable[[Outcome], bytes | Outcome]


class CompiledChange:
    """A mutation with one root field, ready to be done."""

    def __init__(self, compiler: Compiler, choice: Choice) -> None:
        field = field_of(choice, COMPILED)
        resolver = field.extensions[OURS]
        self.choice, self.arguments = choice, Arguments(choice)
        self.names = {argument.python_name: name for argument, name in zip(resolver.arguments, field.args, strict=True)}
        self.makers = {name: maker_of(argument.type) for name, argument in field.args.items()}
        self.resolve: Callable[..., Awaitable[Any]] = resolver.base_resolver.wrapped_func
        self.write = writer_of(compiler, choice, field.type)
        self.direct = DIRECT.get(choice.name)
        self.straight = None if self.direct is None else straight_maker(choice)

    async def run(self, context: RequestContext, variables: VariableValues) -> bytes | ExecutionResult:
        """Do it and write what came of it; a refusal is shown as the executor would show it."""
        try:
            return self._written(await self.resolve(None, Surroundings(context), **self._made(variables)))
        except Exception as error:
            return self.refused(error)

    def asking(self, variables: VariableValues, seal: Seal) -> Asking | None:
        """What to ask of the kernel, where that is all there is to do; else None, and it has to be run."""
        if self.direct is None:
            return None
        try:
            given = None if self.straight is None else self.straight(variables.coerced)
            if given is None:
                (given,) = self._made(variables).values()
            tell = partial(self._told, self.direct, given, seal)
            return Asking(self.direct.command(given), given.idempotency_key, tell)
        except Exception:
            return None  # run, it says by itself what is wrong

    def _told(self, direct: Direct[Any], given: Any, seal: Seal, outcome: Outcome) -> bytes | Outcome:
        """What is answered, sealed; the outcome itself where more has to be looked up."""
        done = changed_one(outcome)
        payload = None if done is None else direct.payload(done, given)
        return outcome if payload is None else seal(self._written(payload))

    async def rest(
        self, context: RequestContext, variables: VariableValues, outcome: Outcome
    ) -> bytes | ExecutionResult:
        """Write what came of it, where that takes looking up."""
        assert self.direct is not None
        try:
            (given,) = self._made(variables).values()
            done = await context.graph.changed_by(outcome)
            return self._written(await self.direct.shown(Surroundings(context), done, given))
        except Exception as error:
            return self.refused(error)

    def refused(self, error: Exception) -> ExecutionResult:
        """What is answered to a change that was not done."""
        return ExecutionResult(None, [located_error(error, self.choice.nodes, [self.choice.key])])

    def _made(self, variables: VariableValues) -> dict[str, Any]:
        """What the resolver is called with."""
        given = self.arguments(variables)
        return {own: self.makers[name](given[name]) for own, name in self.names.items() if name in given}

    def _written(self, payload: Any) -> bytes:
        return f'{{"data":{{"{self.choice.key}":{self.write(payload)}}}}}'.encode()


def field_of(choice: Choice, names: Container[str]) -> GraphQLField:
    """The chosen field if it is one of these of our own schema; generated schemas may use the same names."""
    field: GraphQLField = choice.parent.fields[choice.name]
    if choice.name not in names or OURS not in field.extensions:
        raise NotCompiled(choice.name)
    return field


def compile_change(selection: Selection, operation: OperationDefinitionNode) -> CompiledChange:
    """Compile a mutation, or raise `NotCompiled`."""
    mutation = selection.schema.mutation_type
    if not isinstance(mutation, GraphQLObjectType):
        raise NotCompiled(operation.operation.value)
    choices = selection.fields(mutation, [operation.selection_set])
    if len(choices) != 1:
        raise NotCompiled("several changes in a row")
    (choice,) = choices.values()
    return CompiledChange(Compiler(selection), choice)


# ── payloads ─────────────────────────────────────────────────────────────────


def writer_of(compiler: Compiler, choice: Choice, type: Any) -> Write:
    """How the value of a field is written."""
    inner = get_nullable_type(type)
    write = _list_writer(compiler, choice, inner) if isinstance(inner, GraphQLList) else _one_writer(compiler, choice)
    if not isinstance(type, GraphQLNonNull):
        return lambda value: NULL if value is None else write(value)

    def required(value: Any) -> str:
        if value is None:
            raise TypeError("nothing where there must be something")
        return write(value)

    return required


def _list_writer(compiler: Compiler, choice: Choice, type: GraphQLList[Any]) -> Write:
    write = writer_of(compiler, choice, type.of_type)
    return lambda values: "[" + ",".join([write(value) for value in values]) + "]"


def _one_writer(compiler: Compiler, choice: Choice) -> Write:
    named: Any = get_named_type(choice.parent.fields[choice.name].type)
    if is_leaf_type(named):
        return lambda value: json_of(named.serialize(value))
    if named.name in SHAPES:
        return _element_writer(compiler, choice, named.name)
    if not isinstance(named, GraphQLObjectType):
        raise NotCompiled(named.name)
    return _object_writer(compiler, choice, named)


def _element_writer(compiler: Compiler, choice: Choice, name: str) -> Write:
    """A node or an edge; one that needs related rows asks for them, which the executor does."""
    shape = SHAPES[name]
    if nests_below(compiler.selection, choice, shape):
        raise NotCompiled(choice.name)
    body = compiler.row(choice, shape)
    if compiler.binders:
        raise NotCompiled(choice.name)
    write, read = row_writer(body), Read(shape.table)
    return lambda element: write(element.found, read, [], None)


def _object_writer(compiler: Compiler, choice: Choice, type: GraphQLObjectType) -> Write:
    parts = []
    for number, field in enumerate(compiler.selection.below(choice).values()):
        head = f'{"," if number else "{"}"{field.key}":'
        parts.append((head, *_field(compiler, field, type)))
    return lambda value: "".join([head + write(get(value)) for head, get, write in parts]) + "}"


def _field(compiler: Compiler, field: Choice, type: GraphQLObjectType) -> tuple[Make, Write]:
    """How a field's value is found on its object, and how it is written."""
    if field.name == "__typename":
        return lambda value: None, lambda value: f'"{type.name}"'
    definition = type.fields[field.name].extensions[OURS]
    resolver = definition.base_resolver
    if resolver is None:
        name = definition.python_name
        return attrgetter(name), writer_of(compiler, field, type.fields[field.name].type)
    if resolver.is_async or resolver.arguments or resolver.info_parameter is not None:
        raise NotCompiled(field.name)
    return resolver.wrapped_func, writer_of(compiler, field, type.fields[field.name].type)
