"""Subscriptions the short way: an event is written once for a selection, however many are watching.

A document that shows events of the log and asks for nothing beyond them is compiled. Everybody who sent the same
document shares what was written; only the filter is their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import aclosing
from weakref import WeakKeyDictionary

from graphql import GraphQLObjectType, OperationDefinitionNode
from graphql.execution.values import VariableValues

from schema.events import shown_event
from schema.payloads import field_of, writer_of
from schema.selection import Choice, Selection
from schema.templates import Arguments
from schema.watching import WATCHES
from schema.writers import Compiler, NotCompiled
from ugs.events import Event
from ugs.system import System

KEPT_TEXTS = 256


class CompiledWatch:
    """A subscription, ready to be followed."""

    def __init__(self, compiler: Compiler, choice: Choice) -> None:
        field = field_of(choice, WATCHES)
        self.key, self.watch, self.arguments = choice.key, WATCHES[choice.name], Arguments(choice)
        self._write = writer_of(compiler, choice, field.type)
        # Several graphs are watched with one document: tenants each have their own, and every log begins at one.
        self._written: WeakKeyDictionary[System, OrderedDict[int, bytes]] = WeakKeyDictionary()

    async def stream(self, system: System, variables: VariableValues) -> AsyncIterator[bytes]:
        """The response for every event."""
        async with aclosing(self.watch(system, self.arguments(variables))) as events:  # type: ignore[type-var]
            written = self._written.setdefault(system, OrderedDict())
            async for event in events:
                yield self._text(event, written)

    def _text(self, event: Event, written: OrderedDict[int, bytes]) -> bytes:
        found = written.get(event.position)
        if found is None:
            found = f'{{"data":{{"{self.key}":{self._write(shown_event(event))}}}}}'.encode()
            written[event.position] = found
            if len(written) > KEPT_TEXTS:
                written.popitem(last=False)
        return found


def compile_watch(selection: Selection, operation: OperationDefinitionNode) -> CompiledWatch:
    """Compile a subscription, or raise `NotCompiled`."""
    subscription = selection.schema.subscription_type
    if not isinstance(subscription, GraphQLObjectType):
        raise NotCompiled(operation.operation.value)
    choices = selection.fields(subscription, [operation.selection_set])
    if len(choices) != 1:
        raise NotCompiled("several subscriptions at once")
    (choice,) = choices.values()
    return CompiledWatch(Compiler(selection), choice)
