"""Documents, parsed and checked once, and operations answered by the shortest way that gives the right answer.

A document is parsed, validated and checked against the limits when it is first seen; the result is kept, errors
included. An operation that can be compiled is answered from one storage call per root field, straight to bytes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from inspect import isawaitable
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
    parse,
    subscribe,
    validate,
    value_from_ast_untyped,
    visit,
)
from graphql.execution.values import VariableValues

from schema.compiled import ROOTS, CompiledOperation, Root, Roots, compile_operation
from schema.context import RequestContext
from schema.cost import Priced, Pricing
from schema.limits import INTROSPECTION, USUAL, Limits, check_tokens, rules_within, too_much
from schema.payloads import CompiledChange, Seal, compile_change
from schema.selection import Selection
from schema.variables import MISSING, Variables
from schema.watched import CompiledWatch, compile_watch
from schema.writers import NotCompiled
from ugs.errors import UgsError
from ugs.identity import Context, Principal
from ugs.reads.plan import Read
from ugs.storage import Storage
from ugs.system import System
from ugs.writer import Outcome

log = logging.getLogger(__name__)

KEPT_DOCUMENTS = 1_000
KEPT_SHAPES = 16


Compiled = CompiledOperation | CompiledChange | CompiledWatch


class Short(NamedTuple):
    """An operation that needs no executor, with its variables."""

    compiled: CompiledOperation | CompiledChange
    variables: VariableValues


class Quick(NamedTuple):
    """An operation whose price and shape no variable changes."""

    compiled: CompiledOperation | CompiledChange
    read: Variables

    def short(self, given: Mapping[str, Any]) -> Short | None:
        """What answers it with these variables; None where they are wrong."""
        variables = self.read(given)
        return None if variables is None else Short(self.compiled, variables)


class Price(NamedTuple):
    """What an operation costs, as far as its document decides it."""

    parts: list[Priced]
    known: int | None
    defaults: dict[str, Any]


class Prepared:
    """A document that has been parsed and checked."""

    def __init__(self, document: DocumentNode | None, errors: Sequence[GraphQLError]) -> None:
        self.document = document
        self.errors = list(errors)
        found = document.definitions if document else ()
        self.operations = [node for node in found if isinstance(node, OperationDefinitionNode)]
        self.names = frozenset(node.name.value for node in self.operations if node.name)
        self.fragments = {node.name.value: node for node in found if isinstance(node, FragmentDefinitionNode)}
        noticed = noticed_in(document) if document and not errors else _Noticed()
        self.switches = sorted(noticed.switches)
        self.introspects: bool = noticed.introspects
        self.prices: dict[int, Price] = {}
        self.readers: dict[int, Variables] = {}
        self._named: dict[str | None, OperationDefinitionNode | None] = {}
        self._root_fields: dict[int, frozenset[str]] = {}
        self.compiled: OrderedDict[Any, Compiled | None] = OrderedDict()

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """The operation a request means, when that is clear."""
        if name is None or name in self.names:
            if name not in self._named:
                named = [node for node in self.operations if name is None or (node.name and node.name.value == name)]
                self._named[name] = named[0] if len(named) == 1 else None
            return self._named[name]
        return None

    def root_fields(self, operation: OperationDefinitionNode) -> frozenset[str]:
        """The names of an operation's root fields, fragments unfolded."""
        found = self._root_fields.get(id(operation))
        if found is None:
            found = self._root_fields[id(operation)] = frozenset(self._roots(operation.selection_set))
        return found

    def _roots(self, selection: SelectionSetNode) -> Iterator[str]:
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


class _Noticed(Visitor):
    """Finds the variables that decide which fields are included, and questions about the schema itself."""

    def __init__(self) -> None:
        super().__init__()
        self.switches: set[str] = set()
        self.introspects = False

    def enter_field(self, node: Any, *_: Any) -> None:
        self.introspects = self.introspects or node.name.value in INTROSPECTION

    def enter_directive(self, node: Any, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.switches.add(argument.value.name.value)


def noticed_in(document: DocumentNode) -> _Noticed:
    visitor = _Noticed()
    visit(document, visitor)
    return visitor


class Operations:
    """Everything a door needs to answer GraphQL requests."""

    def __init__(
        self,
        schema: strawberry.Schema | GraphQLSchema,
        compiling: bool = True,
        limits: Limits = USUAL,
        roots: Roots = ROOTS,
    ) -> None:
        self.core = schema if isinstance(schema, GraphQLSchema) else schema._schema
        self.roots = roots
        self.compiling = compiling
        self.limits = limits
        self.rules = rules_within(limits)
        self.hits = self.misses = 0
        self._documents: OrderedDict[str, Prepared] = OrderedDict()

    def prepare(self, query: str) -> Prepared:
        """The document, parsed and checked now or before."""
        found = self._documents.get(query)
        if found is None:
            self.misses += 1
            found = self._documents[query] = self._checked(query)
            if len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        else:
            self.hits += 1
            self._documents.move_to_end(query)
        return found

    @property
    def documents(self) -> int:
        """How many documents are kept."""
        return len(self._documents)

    def knows(self, query: str) -> bool:
        """Whether the document has been seen and found right."""
        found = self._documents.get(query)
        return found is not None and not found.errors

    def check_size(self, query: str) -> None:
        """Refuse a document that is too long to be looked at; one that is kept has been looked at."""
        if query not in self._documents:
            with suppress(GraphQLSyntaxError):  # told with everything else that is wrong, to those who may ask
                check_tokens(query, self.limits)

    def _checked(self, query: str) -> Prepared:
        try:
            check_tokens(query, self.limits)
            document = parse(query)
        except GraphQLError as error:
            return Prepared(None, [error])
        except RecursionError:
            return Prepared(None, [GraphQLError("The query is nested too deeply")])
        return Prepared(document, validate(self.core, document, self.rules))

    def cost(self, prepared: Prepared, operation: OperationDefinitionNode, given: Mapping[str, Any]) -> int:
        """The most an operation can cost with these variables (`schema.cost`)."""
        if id(operation) not in prepared.prices:
            priced = Pricing(self.core, prepared.fragments).operation(operation)
            known = sum(part.cost({}, self.limits) for part in priced) if all(p.constant for p in priced) else None
            prepared.prices[id(operation)] = Price(priced, known, _defaults(operation))
        price = prepared.prices[id(operation)]
        if price.known is not None:
            return price.known
        sizes = {**price.defaults, **given} if price.defaults else given
        return sum(part.cost(sizes, self.limits) for part in price.parts)

    def _excess(self, prepared: Prepared, name: str | None, given: Mapping[str, Any] | None) -> GraphQLError | None:
        """Why an operation costs too much, or None."""
        operation = prepared.operation(name)
        if operation is None:
            return None
        try:
            cost = self.cost(prepared, operation, given or {})
        except GraphQLError as error:
            return error
        most = self.limits.cost
        reason = f"The query may cost {cost}; at most {most} is allowed: ask for smaller pages or fewer levels"
        return too_much(reason, most, operation) if cost > most else None

    async def answer(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None = None,
        operation_name: str | None = None,
    ) -> bytes | ExecutionResult:
        """The response as bytes where the operation is compiled, else the executor's result."""
        return await self.answer_by(
            self.short(prepared, variables, operation_name), prepared, context, variables, operation_name
        )

    def short(self, prepared: Prepared, given: Mapping[str, Any] | None, operation_name: str | None) -> Short | None:
        """What answers a compiled operation with these variables; None for one that goes the ordinary way."""
        operation = prepared.operation(operation_name)
        if operation is None or prepared.errors or not self.compiling:
            return None
        if operation.operation is OperationType.SUBSCRIPTION or self._excess(prepared, operation_name, given):
            return None
        variables = self._variables(prepared, operation, given or {})
        compiled = None if variables is None else self._compiled(prepared, operation, variables)
        if variables is None or compiled is None or isinstance(compiled, CompiledWatch):
            return None
        return Short(compiled, variables)

    def quick(self, prepared: Prepared, operation: OperationDefinitionNode) -> Quick | None:
        """What answers an operation that was answered shortly before, where the values of variables alone matter."""
        price, read = prepared.prices.get(id(operation)), prepared.readers.get(id(operation))
        compiled = prepared.compiled.get((id(operation),))
        if price is None or price.known is None or read is None or compiled is None or prepared.switches:
            return None
        return None if isinstance(compiled, CompiledWatch) else Quick(compiled, read)

    async def answer_by(
        self,
        short: Short | None,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None,
        operation_name: str | None,
    ) -> bytes | ExecutionResult:
        """As `answer`, for those who know already what answers it."""
        if short is not None:
            if isinstance(short.compiled, CompiledChange):
                return await short.compiled.run(context, short.variables)
            fast = await self._read_shortly(short.compiled, short.variables, context)
            if fast is not None:
                return fast
        return await self.execute(prepared, context, variables, operation_name)

    def begin(
        self, short: Short, system: System, principal: Principal, seal: Seal
    ) -> asyncio.Future[bytes | Outcome] | None:
        """Ask for a change that is one command; None where it has to be run, and nothing has happened."""
        asking = short.compiled.asking(short.variables, seal) if isinstance(short.compiled, CompiledChange) else None
        return None if asking is None else system.begin(asking.command, Context(principal, asking.key), asking.tell)

    def answer_now(self, short: Short, storage: Storage) -> bytes | None:
        """The response to a compiled question that the store answers without being waited for; else None."""
        if not isinstance(short.compiled, CompiledOperation) or "render_now" not in storage.capabilities.native:
            return None
        try:
            return short.compiled.now(storage, short.variables)
        except Exception:
            # Asked once more the usual way, it says by itself what is wrong.
            return None

    def plans(
        self, prepared: Prepared, operation: OperationDefinitionNode, given: Mapping[str, Any]
    ) -> list[tuple[Root, Read | None]] | None:
        """The plan of each root field, or None for an operation that goes the ordinary way."""
        variables = None if prepared.errors else self._variables(prepared, operation, given)
        compiled = None if variables is None else self._compiled(prepared, operation, variables)
        if variables is None or not isinstance(compiled, CompiledOperation):
            return None
        try:
            return [(root, root.plan(variables)) for root in compiled.roots]
        except (UgsError, GraphQLError):
            return None

    async def _read_shortly(
        self, compiled: CompiledOperation, variables: VariableValues, context: RequestContext
    ) -> bytes | None:
        try:
            return await compiled.run(context.system, variables)
        except (UgsError, GraphQLError):
            # Reading again is harmless, and the executor knows how every error is shown.
            return None
        except Exception:
            # A bug of ours must not pass for mere slowness; the executor still answers the caller.
            log.exception("a compiled operation failed; the executor answers instead")
            return None

    def _variables(
        self, prepared: Prepared, operation: OperationDefinitionNode, given: Mapping[str, Any]
    ) -> VariableValues | None:
        reader = prepared.readers.get(id(operation))
        if reader is None:
            reader = prepared.readers[id(operation)] = Variables(self.core, operation)
        return reader(given)

    def _compiled(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> Compiled | None:
        key = (id(operation), *(variables.coerced.get(name) for name in prepared.switches))
        found = prepared.compiled.get(key, MISSING)
        if found is MISSING:
            if len(prepared.compiled) >= KEPT_SHAPES:
                prepared.compiled.popitem(last=False)
            found = prepared.compiled[key] = self._compile(prepared, operation, variables)
        return found  # type: ignore[return-value]

    def _compile(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: VariableValues
    ) -> Compiled | None:
        selection = Selection(self.core, prepared.fragments, variables)
        try:
            if operation.operation is OperationType.MUTATION:
                return compile_change(selection, operation)
            if operation.operation is OperationType.SUBSCRIPTION:
                return compile_watch(selection, operation)
            return compile_operation(selection, operation, self.roots)
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
        excess = None if prepared.errors else self._excess(prepared, operation_name, variables)
        if excess is not None:
            return ExecutionResult(None, [excess])
        return await self._executed(prepared, context, variables, operation_name)

    async def _executed(
        self,
        prepared: Prepared,
        context: RequestContext,
        variables: Mapping[str, Any] | None,
        operation_name: str | None,
    ) -> ExecutionResult:
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
    ) -> AsyncIterator[bytes | ExecutionResult] | ExecutionResult:
        """The stream of a subscription, as bytes where it is compiled, or why there is none."""
        excess = None if prepared.errors else self._excess(prepared, operation_name, variables)
        if excess is not None:
            return ExecutionResult(None, [excess])
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, prepared.errors)
        quick = self._watched(prepared, context.system, variables or {}, operation_name)
        if quick is not None:
            return quick
        found = subscribe(
            self.core,
            prepared.document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=operation_name,
        )
        return await found if isawaitable(found) else found

    def _watched(
        self, prepared: Prepared, system: System, given: Mapping[str, Any], name: str | None
    ) -> AsyncIterator[bytes] | None:
        operation = prepared.operation(name)
        if not self.compiling or operation is None or operation.operation is not OperationType.SUBSCRIPTION:
            return None
        variables = self._variables(prepared, operation, given)
        compiled = None if variables is None else self._compiled(prepared, operation, variables)
        if variables is None or not isinstance(compiled, CompiledWatch):
            return None
        return compiled.stream(system, variables)


def _defaults(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The default values of an operation's variables, where they are whole numbers or lists."""
    return {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
