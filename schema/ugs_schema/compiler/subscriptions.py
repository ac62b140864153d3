"""Compiled subscriptions: an event is rendered once per document, however many clients subscribe.

Documents that select only fields of the events are compiled. Subscribers with the same document share the rendered
texts; only their filters differ.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from weakref import WeakKeyDictionary

from graphql import GraphQLObjectType, OperationDefinitionNode
from graphql.execution.values import VariableValues

from ugs.events import Event
from ugs.log.log_reader import LogReader
from ugs.support.bounded_cache import BoundedCache
from ugs.system import System
from ugs_schema.compiler.mutations import get_own_field, make_writer
from ugs_schema.compiler.plan_templates import Arguments
from ugs_schema.compiler.response_plan import Compiler
from ugs_schema.compiler.row_types import NotCompilable
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.graph.events import to_graphql_event
from ugs_schema.graph.subscriptions import EVENT_SOURCES

MAX_TEXTS, MAX_TEXT_BYTES = 256, 8 << 20


class CompiledWatch:
    """A compiled subscription."""

    def __init__(self, compiler: Compiler, selected_field: SelectedField) -> None:
        field = get_own_field(selected_field, EVENT_SOURCES)
        self.key, self.watch, self.arguments = (
            selected_field.key,
            EVENT_SOURCES[selected_field.name],
            Arguments(selected_field),
        )
        self._write = make_writer(compiler, selected_field, field.type)
        # Keyed by system: tenants have separate logs with equal positions and may send the same document.
        self._rendered: WeakKeyDictionary[System, BoundedCache[tuple[int, str], bytes]] = WeakKeyDictionary()

    async def stream(self, log: LogReader, variables: VariableValues) -> AsyncIterator[bytes]:
        """The rendered response for every event that passes the filter."""
        async with aclosing(self.watch(log, self.arguments(variables))) as events:  # type: ignore[type-var]
            rendered = self._rendered.setdefault(log.system, BoundedCache(MAX_TEXTS, MAX_TEXT_BYTES))
            async for event in events:
                yield self._render_event(event, rendered)

    def _render_event(self, event: Event, rendered: BoundedCache[tuple[int, str], bytes]) -> bytes:
        # The type is part of the key because an event that a subscriber may not see is shown as another type.
        key = event.position, event.type
        body = rendered.get(key)
        if body is None:
            body = f'{{"data":{{"{self.key}":{self._write(to_graphql_event(event))}}}}}'.encode()
            rendered.put(key, body, len(body))
        return body


def compile_watch(selection: Selection, operation: OperationDefinitionNode) -> CompiledWatch:
    """Compile a subscription, or raise `NotCompilable`."""
    subscription = selection.schema.subscription_type
    if not isinstance(subscription, GraphQLObjectType):
        raise NotCompilable(operation.operation.value)
    selected_fields = selection.fields(subscription, [operation.selection_set])
    if len(selected_fields) != 1:
        raise NotCompilable("several subscriptions at once")
    (selected_field,) = selected_fields.values()
    return CompiledWatch(Compiler(selection), selected_field)
