"""Documents, parsed and checked once, and operations answered by the shortest way that gives the right answer.

A document is parsed, validated and checked against the limits when it is first seen; the result is kept, errors
included. An operation that can be compiled is answered from one storage call per root field, straight to bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from inspect import isawaitable
from typing import Any

import strawberry
from graphql import (
    DocumentNode,
    ExecutionResult,
    FragmentDefinitionNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    VariableNode,
    Visitor,
    execute,
    get_variable_values,
    parse,
    subscribe,
    validate,
    visit,
)
from graphql.execution.values import VariableValues

from schema.compiled import CompiledOperation, compile_operation
from schema.context import RequestContext
from schema.limits import RULES, check_tokens
from schema.selection import Selection
from schema.writers import NotCompiled
from ugs.errors import UgsError

KEPT_DOCUMENTS = 1_000
KEPT_SHAPES = 16


class Prepared:
    """A document that has been parsed and checked."""

    def __init__(self, document: DocumentNode | None, errors: Sequence[GraphQLError]) -> None:
        self.document = document
        self.errors = list(errors)
        found = document.definitions if document else ()
        self.operations = [node for node in found if isinstance(node, OperationDefinitionNode)]
        self.fragments = {node.name.value: node for node in found if isinstance(node, FragmentDefinitionNode)}
        self.switches = switches_in(document) if document and not errors else frozenset()
        self.compiled: OrderedDict[Any, CompiledOperation | None] = OrderedDict()

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """The operation a request means, when that is clear."""
        named = [node for node in self.operations if name is None or (node.name and node.name.value == name)]
        return named[0] if len(named) == 1 else None


class _Switches(Visitor):
    """Finds the variables that decide which fields are included."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.names.add(argument.value.name.value)


def switches_in(document: DocumentNode) -> frozenset[str]:
    visitor = _Switches()
    visit(document, visitor)
    return frozenset(visitor.names)


class Operations:
    """Everything a door needs to answer GraphQL requests."""

    def __init__(self, schema: strawberry.Schema, compiling: bool = True) -> None:
        self.schema = schema
        self.core = schema._schema
        self.compiling = compiling
        self._documents: OrderedDict[str, Prepared] = OrderedDict()

    def prepare(self, query: str) -> Prepared:
        """The document, parsed and checked now or before."""
        found = self._documents.get(query)
        if found is None:
            found = self._documents[query] = self._checked(query)
            if len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        else:
            self._documents.move_to_end(query)
        return found

    def _checked(self, query: str) -> Prepared:
        try:
            check_tokens(query)
            document = parse(query)
        except GraphQLError as error:
            return Prepared(None, [error])
        except RecursionError:
            return Prepared(None, [GraphQLError("The query is nested too deeply")])
        return Prepared(document, validate(self.core, document, RULES))

    async def answer(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> bytes | ExecutionResult:
        """The response as bytes where the operation is compiled, else the executor's result."""
        operation = None if prepared.errors or not self.compiling else prepared.operation(operation_name)
        if operation is not None and operation.operation is OperationType.QUERY:
            fast = await self._compiled_answer(prepared, operation, context, variables or {})
            if fast is not None:
                return fast
        return await self.execute(prepared, context, variables, operation_name)

    async def _compiled_answer(
        self, prepared: Prepared, operation: OperationDefinitionNode, context: RequestContext, given: Mapping[str, Any]
    ) -> bytes | None:
        variables = self._variables(operation, given)
        if variables is None:
            return None
        compiled = self._compiled(prepared, operation, variables)
        if compiled is None:
            return None
        try:
            async with context.system.session() as session:
                return await compiled.run(session, variables)
        except (UgsError, GraphQLError):
            # Reading again is harmless, and the executor knows how an error is shown.
            return None

    def _variables(self, operation: OperationDefinitionNode, given: Mapping[str, Any]) -> VariableValues | None:
        if not operation.variable_definitions:
            return VariableValues({}, {})
        found = get_variable_values(self.core, operation.variable_definitions, dict(given))
        return None if isinstance(found, list) else found

    def _compiled(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> CompiledOperation | None:
        key = (id(operation), *(variables.coerced.get(name) for name in sorted(prepared.switches)))
        if key not in prepared.compiled:
            if len(prepared.compiled) >= KEPT_SHAPES:
                prepared.compiled.popitem(last=False)
            prepared.compiled[key] = self._compile(prepared, operation, variables)
        return prepared.compiled[key]

    def _compile(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> CompiledOperation | None:
        try:
            return compile_operation(Selection(self.core, prepared.fragments, variables), operation)
        except (NotCompiled, UgsError, GraphQLError):
            return None

    async def execute(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> ExecutionResult:
        """The ordinary way: every field by its resolver."""
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, prepared.errors)
        result = execute(
            self.core,
            prepared.document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=operation_name,
        )
        found = await result if not isinstance(result, ExecutionResult) else result
        assert isinstance(found, ExecutionResult)
        return found

    async def subscribe(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> AsyncIterator[ExecutionResult] | ExecutionResult:
        """The stream of a subscription, or why there is none."""
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, prepared.errors)
        found = subscribe(
            self.core,
            prepared.document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=operation_name,
        )
        return await found if isawaitable(found) else found
