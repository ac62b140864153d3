"""The document cache and the execution of operations.

A document is parsed, validated and checked against the limits when it is first seen; the result is cached, errors
included. A compiled operation renders bytes with one storage call per root field; every other operation is executed by
graphql-core with the resolvers.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from inspect import isawaitable
from traceback import clear_frames
from typing import Any, NamedTuple

import strawberry
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
    Visitor,
    execute,
    subscribe,
    validate,
    value_from_ast_untyped,
    visit,
)
from graphql.execution.values import VariableValues
from graphql.language.parser import Parser

from ugs.errors import AnswerTooLarge, UgsError
from ugs.identity import Context, Principal
from ugs.log.log_reader import LogReader
from ugs.reads.plan import Read
from ugs.reads.rendering import answer_too_large
from ugs.storage import Storage
from ugs.support.bounded_cache import BoundedCache
from ugs.support.time_slice import yield_turn
from ugs.system import System
from ugs.writer import Outcome
from ugs_schema.compiler.cost import CostAnalysis, FieldCost
from ugs_schema.compiler.graphql_executor import BUDGET, AnswerBudget, BoundedExecutor
from ugs_schema.compiler.limits import (
    DEFAULT_LIMITS,
    INTROSPECTION,
    Limits,
    build_rules,
    check_tokens,
    make_limit_error,
)
from ugs_schema.compiler.mutations import CompiledMutation, compile_mutation
from ugs_schema.compiler.queries import ROOT_COMPILERS, CompiledOperation, Root, RootCompilers, compile_operation
from ugs_schema.compiler.row_types import NotCompilable
from ugs_schema.compiler.selection import Selection
from ugs_schema.compiler.subscriptions import CompiledWatch, compile_watch
from ugs_schema.compiler.variables import MISSING, Variables
from ugs_schema.context import RequestContext

log = logging.getLogger(__name__)

MAX_DOCUMENTS, MAX_DOCUMENT_BYTES = 1_000, 64 << 20
"""Bounds of the document cache: entries, and approximate memory."""
DOCUMENT_BYTES, BYTES_PER_CHAR = 16_384, 64
"""Estimated memory of a document: parsed, validated, compiled."""
MAX_COMPILED_VARIANTS = 16


Compiled = CompiledOperation | CompiledMutation | CompiledWatch


MAX_INPUT_VALUES, MAX_CHANGE_VALUES = 10_000, 50_000
"""Values in lists and input objects of the variables, without JSON: coercing them blocks the event loop, for about a
microsecond each. A batch of 10,000 operations fits into those of a mutation."""

HEAVY_COST = 500
"""More expensive operations take turns with each other, and are never answered synchronously."""


class BoundOperation(NamedTuple):
    """A compiled operation with its coerced variables."""

    compiled: CompiledOperation | CompiledMutation
    variables: VariableValues
    heavy: bool = False


class FixedCostOperation(NamedTuple):
    """A compiled operation whose cost and selection do not depend on variables."""

    compiled: CompiledOperation | CompiledMutation
    read: Variables
    heavy: bool = False

    def bind(self, raw_variables: Mapping[str, Any]) -> BoundOperation | None:
        """Bind variables; None if they are invalid."""
        variables = self.read(raw_variables)
        return None if variables is None else BoundOperation(self.compiled, variables, self.heavy)


class Submission(NamedTuple):
    """A mutation whose command was submitted to the writer."""

    mutation: CompiledMutation
    input: Any
    outcome: asyncio.Future[Outcome]


class OperationCost(NamedTuple):
    """The cost of an operation as far as the document determines it."""

    parts: list[FieldCost]
    known: int | None
    defaults: dict[str, Any]


class Prepared:
    """A parsed and validated document, with everything that is computed once per document."""

    def __init__(self, document: DocumentNode | None, errors: Sequence[GraphQLError]) -> None:
        self.document = document
        self.errors = list(errors)
        found = document.definitions if document else ()
        self.operations = [node for node in found if isinstance(node, OperationDefinitionNode)]
        self.names = frozenset(node.name.value for node in self.operations if node.name)
        self.fragments = {node.name.value: node for node in found if isinstance(node, FragmentDefinitionNode)}
        features = find_features(document) if document and not errors else _DocumentFeatures()
        self.directive_variables = sorted(features.directive_variables)
        self.introspects: bool = features.introspects
        self.costs: dict[int, OperationCost] = {}
        self.readers: dict[int, Variables] = {}
        self._named: dict[str | None, OperationDefinitionNode | None] = {}
        self._root_fields: dict[int, frozenset[str]] = {}
        self.compiled: OrderedDict[Any, Compiled | None] = OrderedDict()

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """The operation with this name; without a name the only operation; None if it is ambiguous or unknown."""
        if name is None or name in self.names:
            if name not in self._named:
                named = [node for node in self.operations if name is None or (node.name and node.name.value == name)]
                self._named[name] = named[0] if len(named) == 1 else None
            return self._named[name]
        return None

    def root_fields(self, operation: OperationDefinitionNode) -> frozenset[str]:
        """The names of an operation's root fields, including those in fragments."""
        found = self._root_fields.get(id(operation))
        if found is None:
            found = self._root_fields[id(operation)] = frozenset(self._iterate_root_fields(operation.selection_set))
        return found

    def _iterate_root_fields(self, selection: SelectionSetNode) -> Iterator[str]:
        todo, seen = [selection], set()
        while todo:
            for node in todo.pop().selections:
                if isinstance(node, FieldNode):
                    yield node.name.value
                elif not isinstance(node, FragmentSpreadNode):
                    todo.append(node.selection_set)  # type: ignore[attr-defined]
                elif node.name.value in self.fragments and node.name.value not in seen:
                    seen.add(node.name.value)
                    todo.append(self.fragments[node.name.value].selection_set)


class _DocumentFeatures(Visitor):
    """Finds the variables of `@skip` and `@include`, and whether the document uses introspection."""

    def __init__(self) -> None:
        super().__init__()
        self.directive_variables: set[str] = set()
        self.introspects = False

    def enter_field(self, node: Any, *_: Any) -> None:
        self.introspects = self.introspects or node.name.value in INTROSPECTION

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.directive_variables.add(argument.value.name.value)


def find_features(document: DocumentNode) -> _DocumentFeatures:
    visitor = _DocumentFeatures()
    visit(document, visitor)
    return visitor


class OperationExecutor:
    """Prepares, prices and executes the GraphQL documents of one schema; used by every endpoint."""

    def __init__(
        self,
        schema: strawberry.Schema | GraphQLSchema,
        compiling: bool = True,
        limits: Limits = DEFAULT_LIMITS,
        roots: RootCompilers = ROOT_COMPILERS,
        documents: BoundedCache[tuple[object, str], Prepared] | None = None,
    ) -> None:
        self.core = schema if isinstance(schema, GraphQLSchema) else schema._schema
        self.roots = roots
        self.compiling = compiling
        self.limits = limits
        self.rules = build_rules(limits)
        self.hits = self.misses = 0
        # Generated schemas share one cache, so that its bound holds for all of them; the mark separates their
        # documents.
        self._mark = object()
        self._documents = BoundedCache(MAX_DOCUMENTS, MAX_DOCUMENT_BYTES) if documents is None else documents

    def prepare(self, query: str) -> Prepared:
        """The prepared document, from the cache if it is there."""
        found = self._documents.get((self._mark, query))
        if found is None:
            self.misses += 1
            found = self._parse_and_validate(query)
            self._documents.put((self._mark, query), found, DOCUMENT_BYTES + BYTES_PER_CHAR * len(query))
        else:
            self.hits += 1
        return found

    @property
    def documents(self) -> int:
        """The number of cached documents."""
        return len(self._documents)

    def knows(self, query: str) -> bool:
        """Whether the document is cached and valid."""
        found = self._documents.get((self._mark, query))
        return found is not None and not found.errors

    def check_size(self, query: str) -> None:
        """Reject a document that exceeds the size limits; a cached one was checked before."""
        if (self._mark, query) not in self._documents:
            with suppress(GraphQLSyntaxError):  # reported by prepare, after authentication
                check_tokens(query, self.limits)

    def _parse_and_validate(self, query: str) -> Prepared:
        try:
            lexer = check_tokens(query, self.limits)
            document = Parser(lexer.source, lexer=lexer).parse_document()
        except GraphQLError as error:
            return Prepared(None, [error])
        except RecursionError:
            return Prepared(None, [GraphQLError("The query is nested too deeply")])
        return Prepared(document, validate(self.core, document, self.rules))

    def cost(self, prepared: Prepared, operation: OperationDefinitionNode, raw_variables: Mapping[str, Any]) -> int:
        """The maximal cost of an operation with these variables (`ugs_schema.compiler.cost`)."""
        if id(operation) not in prepared.costs:
            priced = CostAnalysis(self.core, prepared.fragments).operation(operation)
            known = sum(part.cost({}, self.limits) for part in priced) if all(p.constant for p in priced) else None
            prepared.costs[id(operation)] = OperationCost(priced, known, _get_defaults(operation))
        price = prepared.costs[id(operation)]
        if price.known is not None:
            return price.known
        sizes = {**price.defaults, **raw_variables} if price.defaults else raw_variables
        return sum(part.cost(sizes, self.limits) for part in price.parts)

    def _find_excess(
        self, prepared: Prepared, name: str | None, raw_variables: Mapping[str, Any] | None
    ) -> GraphQLError | None:
        """The error if an operation exceeds the cost limit, else None."""
        operation = prepared.operation(name)
        if operation is None:
            return None
        changes = operation.operation is OperationType.MUTATION
        max_values = MAX_CHANGE_VALUES if changes else MAX_INPUT_VALUES
        if (
            raw_variables
            and self._get_variables(prepared, operation).count_values(raw_variables, max_values) > max_values
        ):
            return make_limit_error(
                f"The variables hold more than {max_values} values in lists and objects", max_values, operation
            )
        try:
            cost = self.cost(prepared, operation, raw_variables or {})
        except GraphQLError as error:
            return error
        max_cost = self.limits.cost
        reason = f"The query may cost {cost}; at most {max_cost} is allowed: ask for smaller pages or fewer levels"
        return make_limit_error(reason, max_cost, operation) if cost > max_cost else None

    async def answer(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> bytes | ExecutionResult:
        """Run an operation: rendered bytes if it is compiled, else the result of graphql-core."""
        return await self.answer_bound(
            self.bind(prepared, variables, operation_name), prepared, context, variables, operation_name
        )

    def bind(
        self, prepared: Prepared, raw_variables: Mapping[str, Any] | None, operation_name: str | None
    ) -> BoundOperation | None:
        """The compiled operation with these variables; None if graphql-core has to execute it."""
        operation = prepared.operation(operation_name)
        if operation is None or prepared.errors or not self.compiling:
            return None
        if operation.operation is OperationType.SUBSCRIPTION or self._find_excess(
            prepared, operation_name, raw_variables
        ):
            return None
        variables = self._coerce_variables(prepared, operation, raw_variables or {})
        compiled = None if variables is None else self._get_compiled(prepared, operation, variables)
        if variables is None or compiled is None or isinstance(compiled, CompiledWatch):
            return None
        return BoundOperation(compiled, variables, self.cost(prepared, operation, raw_variables or {}) > HEAVY_COST)

    def fixed_cost(self, prepared: Prepared, operation: OperationDefinitionNode) -> FixedCostOperation | None:
        """The compiled operation for reuse with other variables, if cost and selection do not depend on them. Looks
        only at what `bind` has cached."""
        price, read = prepared.costs.get(id(operation)), prepared.readers.get(id(operation))
        compiled = prepared.compiled.get((id(operation),))
        if price is None or price.known is None or read is None or compiled is None or prepared.directive_variables:
            return None
        return (
            None
            if isinstance(compiled, CompiledWatch)
            else FixedCostOperation(compiled, read, price.known > HEAVY_COST)
        )

    async def answer_bound(
        self,
        bound: BoundOperation | None,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None,
        operation_name: str | None,
    ) -> bytes | ExecutionResult:
        """As `answer`, for an operation that is already bound."""
        if bound is not None:
            if isinstance(bound.compiled, CompiledMutation):
                return await bound.compiled.run(context, bound.variables)
            if bound.heavy:
                await yield_turn()
            fast = await self._run_compiled(bound.compiled, bound.variables, context)
            if fast is not None:
                return fast
        return await self.execute(prepared, context, variables, operation_name)

    def submit(self, bound: BoundOperation, system: System, principal: Principal) -> Submission | None:
        """Submit a mutation that is a single command to the writer; None, without side effects, if it has to be
        executed."""
        mutation = bound.compiled
        request = mutation.command_request(bound.variables) if isinstance(mutation, CompiledMutation) else None
        if request is None or not isinstance(mutation, CompiledMutation):
            return None
        return Submission(mutation, request.input, system.submit(request.command, Context(principal, request.key)))

    def answer_now(self, bound: BoundOperation, storage: Storage) -> bytes | None:
        """The response of a compiled query if the store can render it synchronously, else None."""
        if (
            bound.heavy
            or not isinstance(bound.compiled, CompiledOperation)
            or "render_now" not in storage.capabilities.native
        ):
            return None
        try:
            return bound.compiled.run_sync(storage, bound.variables)
        except Exception:
            # Errors are reported by the general path, which the caller takes next.
            return None

    def plans(
        self, prepared: Prepared, operation: OperationDefinitionNode, raw_variables: Mapping[str, Any]
    ) -> list[tuple[Root, Read | None]] | None:
        """The plan of each root field; None if the operation is not compiled."""
        variables = None if prepared.errors else self._coerce_variables(prepared, operation, raw_variables)
        compiled = None if variables is None else self._get_compiled(prepared, operation, variables)
        if variables is None or not isinstance(compiled, CompiledOperation):
            return None
        try:
            # Plans of the past are not those that the store of the present is sent.
            return None if compiled.is_past(variables) else [(root, root.plan(variables)) for root in compiled.roots]
        except (UgsError, GraphQLError):
            return None

    async def _run_compiled(
        self, compiled: CompiledOperation, variables: VariableValues, context: RequestContext
    ) -> bytes | ExecutionResult | None:
        try:
            return await compiled.run(context.system, variables)
        except AnswerTooLarge as error:
            return _to_error_result(error)  # running it again would only build it again
        except (UgsError, GraphQLError):
            # A read has no side effects, so graphql-core may repeat it and report the error with path and location.
            return None
        except Exception:
            # An unexpected error is logged so that it is noticed; graphql-core still answers the request.
            log.exception("a compiled operation failed; the executor answers instead")
            return None

    def _coerce_variables(
        self, prepared: Prepared, operation: OperationDefinitionNode, raw_variables: Mapping[str, Any]
    ) -> VariableValues | None:
        return self._get_variables(prepared, operation)(raw_variables)

    def _get_variables(self, prepared: Prepared, operation: OperationDefinitionNode) -> Variables:
        reader = prepared.readers.get(id(operation))
        if reader is None:
            reader = prepared.readers[id(operation)] = Variables(self.core, operation)
        return reader

    def _get_compiled(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> Compiled | None:
        # A variable of @skip or @include changes the selection, so each combination is compiled separately.
        key = (id(operation), *(variables.coerced.get(name) for name in prepared.directive_variables))
        found = prepared.compiled.get(key, MISSING)
        if found is MISSING:
            if len(prepared.compiled) >= MAX_COMPILED_VARIANTS:
                prepared.compiled.popitem(last=False)
            found = prepared.compiled[key] = self._compile(prepared, operation, variables)
        return found  # type: ignore[return-value]

    def _compile(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> Compiled | None:
        selection = Selection(self.core, prepared.fragments, variables)
        try:
            if operation.operation is OperationType.MUTATION:
                return compile_mutation(selection, operation)
            if operation.operation is OperationType.SUBSCRIPTION:
                return compile_watch(selection, operation)
            compiled = compile_operation(selection, operation, self.roots)
            compiled.limit_bytes(self.limits.answer_bytes)
            return compiled
        except (NotCompilable, UgsError, GraphQLError):
            return None

    async def execute(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> ExecutionResult:
        """Execute with graphql-core and the resolvers."""
        excess = None if prepared.errors else self._find_excess(prepared, operation_name, variables)
        if excess is not None:
            return ExecutionResult(None, [excess])
        return await self._execute_within_budget(prepared, context, variables, operation_name)

    async def _execute_within_budget(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None,
        operation_name: str | None,
    ) -> ExecutionResult:
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, prepared.errors)
        # A task of its own, so that exceeding the answer budget cancels everything the operation has started.
        budget = AnswerBudget(self.limits.answer_bytes)
        BUDGET.set(budget)
        budget.task = task = asyncio.create_task(
            self._run(prepared.document, context, variables, operation_name), name="GraphQL operation"
        )
        try:
            found = await task
        except asyncio.CancelledError:
            if not budget.is_spent or not task.cancelled():
                raise
        finally:
            budget.task = None  # the task's context refers to the budget, so they would be garbage together
        if not budget.is_spent:
            return found
        return _to_error_result(budget.refusal or answer_too_large(self.limits.answer_bytes))

    async def _run(
        self,
        document: DocumentNode,
        context: RequestContext,
        variables: Mapping[str, Any] | None,
        operation_name: str | None,
    ) -> ExecutionResult:
        result = execute(
            self.core,
            document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=operation_name,
            executor_class=BoundedExecutor,
        )
        found = await result if not isinstance(result, ExecutionResult) else result
        assert isinstance(found, ExecutionResult)
        release_frames(found)
        return found

    async def subscribe(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> AsyncIterator[bytes | ExecutionResult] | ExecutionResult:
        """The stream of a subscription, as bytes if it is compiled; an `ExecutionResult` with errors if it cannot
        start."""
        excess = None if prepared.errors else self._find_excess(prepared, operation_name, variables)
        if excess is not None:
            return ExecutionResult(None, [excess])
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, prepared.errors)
        compiled = self._start_watch(prepared, context.log, variables or {}, operation_name)
        if compiled is not None:
            return self._limit_events(compiled)
        BUDGET.set(AnswerBudget(self.limits.answer_bytes))
        found = subscribe(
            self.core,
            prepared.document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=operation_name,
            executor_class=BoundedExecutor,
        )
        stream = await found if isawaitable(found) else found
        return stream if isinstance(stream, ExecutionResult) else self._limit_events(stream)

    async def _limit_events(
        self, stream: AsyncIterator[bytes | ExecutionResult]
    ) -> AsyncIterator[bytes | ExecutionResult]:
        """The answers of a subscription; one that is too large ends it with an error."""
        max_bytes = self.limits.answer_bytes
        async with aclosing(stream) as answers:  # type: ignore[type-var]
            async for answer in answers:
                if len(answer) > max_bytes if isinstance(answer, bytes) else _is_too_large(answer):
                    yield _to_error_result(make_event_too_large(max_bytes))
                    return
                yield answer

    def _start_watch(
        self, prepared: Prepared, reader: LogReader, raw_variables: Mapping[str, Any], name: str | None
    ) -> AsyncIterator[bytes] | None:
        operation = prepared.operation(name)
        if not self.compiling or operation is None or operation.operation is not OperationType.SUBSCRIPTION:
            return None
        variables = self._coerce_variables(prepared, operation, raw_variables)
        compiled = None if variables is None else self._get_compiled(prepared, operation, variables)
        if variables is None or not isinstance(compiled, CompiledWatch):
            return None
        return compiled.stream(reader, variables)


def release_frames(result: ExecutionResult) -> None:
    """Let go of what the frames of failed resolvers hold, which may be as much as a request is allowed.

    graphql-core's executor and the errors it has collected refer to each other, so all of it would wait for a garbage
    collection. The traceback of a bug stays, for the log.
    """
    for error in result.errors or ():
        error.__traceback__ = None
        original = error.original_error
        if isinstance(original, UgsError):
            original.__traceback__ = original.__context__ = None
        elif original is not None:
            clear_frames(original.__traceback__)


def make_event_too_large(max_bytes: int) -> AnswerTooLarge:
    """The error for an event of more than `max_bytes` bytes, which ends its subscription."""
    reason = (
        f"An event has more than {max_bytes} bytes, so the subscription ends: select fewer fields, and read the rest"
    )
    return AnswerTooLarge(f"{reason} with queries", limit=max_bytes)


def _is_too_large(answer: ExecutionResult) -> bool:
    return any(isinstance(error.original_error, AnswerTooLarge) for error in answer.errors or ())


def _to_error_result(error: UgsError) -> ExecutionResult:
    return ExecutionResult(None, [GraphQLError(error.message, original_error=error)])


def _get_defaults(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The default values of an operation's variables as plain Python values."""
    return {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
