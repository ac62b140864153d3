"""Operations compiled once: a plan with holes and a writer for each root field.

Only reading operations whose root fields are all known here are compiled. The first sign of anything else, at compile
time or at run time, hands the operation to the ordinary executor, which answers alike and knows every error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Protocol

from graphql import GraphQLObjectType, OperationDefinitionNode, OperationType
from graphql.execution.values import VariableValues

from schema.selection import Choice, Selection
from schema.shapes import (
    EDGE,
    NODE,
    Shape,
    connection_template,
    listed_edges,
    listed_nodes,
    nests_below,
    nodes_by_property,
    only,
    root_nodes,
)
from schema.templates import Arguments, Asked, ReadTemplate
from schema.writers import Compiler, NotCompiled
from ugs.identity import is_identifier
from ugs.reads.plan import Read
from ugs.reads.rendering import NULL, Late, Rendering
from ugs.storage import Storage
from ugs.system import System

NOTHING, START, END = NULL.encode(), b'{"data":{', b"}}"
Plan = Callable[[VariableValues], Read | None]
"""The read for these variables; None where there can be nothing to find."""


class Root:
    """One root field, ready to be asked."""

    def __init__(self, key: str, plan: Plan, rendering: Rendering) -> None:
        self.key, self.plan, self.rendering = key, plan, rendering

    async def text(self, source: Renders, variables: VariableValues, late: Late) -> bytes:
        """What is shown for these variables."""
        plan = self.plan(variables)
        return NOTHING if plan is None else await source.render(plan, self.rendering, late)


class CompiledOperation:
    """A whole operation, ready to be asked."""

    def __init__(self, roots: list[Root], binders: list[Callable[[VariableValues], Any]]) -> None:
        self.roots, self.binders = roots, binders
        self.heads = [f'{"," if number else ""}"{root.key}":'.encode() for number, root in enumerate(roots)]
        """What stands in front of each root field in a response."""

    async def run(self, system: System, variables: VariableValues) -> bytes:
        """The response for these variables; all of it from one state."""
        late = [bind(variables) for bind in self.binders]
        if len(self.roots) == 1:
            return self._whole([await self.roots[0].text(system.storage, variables, late)])
        async with system.session() as session:
            return self._whole([await root.text(session, variables, late) for root in self.roots])

    def now(self, storage: Storage, variables: VariableValues) -> bytes | None:
        """The same at once, where the store answers everything without being waited for."""
        late, texts = [bind(variables) for bind in self.binders] if self.binders else [], []
        for root in self.roots:
            plan = root.plan(variables)
            text = NOTHING if plan is None else storage.render_now(plan, root.rendering, late)
            if text is None:
                return None
            texts.append(text)
        return self._whole(texts)

    def _whole(self, texts: list[bytes]) -> bytes:
        if len(texts) == 1:
            return b"".join((START, self.heads[0], texts[0], END))
        return b"".join((START, *chain.from_iterable(zip(self.heads, texts, strict=True)), END))


class Renders(Protocol):
    """A store or a session: whoever can answer a plan as text."""

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes: ...


def compile_operation(selection: Selection, operation: OperationDefinitionNode, makers: Roots) -> CompiledOperation:
    """Compile an operation of these root fields, or raise `NotCompiled`."""
    query = selection.schema.query_type
    if operation.operation is not OperationType.QUERY or not isinstance(query, GraphQLObjectType):
        raise NotCompiled(operation.operation.value)
    compiler = Compiler(selection)
    choices = selection.fields(query, [operation.selection_set])
    roots = [_root(compiler, choice, makers) for choice in choices.values()]
    return CompiledOperation(roots, compiler.binders)


def _root(compiler: Compiler, choice: Choice, makers: Roots) -> Root:
    make = makers.get(choice.name)
    if make is None:
        raise NotCompiled(choice.name)
    for argument in choice.nodes[0].arguments or ():
        if argument.name.value in ("at", "version"):
            raise NotCompiled(argument.name.value)
    return make(compiler, choice)


def single(shape: Shape) -> Callable[[Compiler, Choice], Root]:
    """A field that shows one row by its id."""

    def make(compiler: Compiler, choice: Choice) -> Root:
        id_in = Arguments(choice).one("id")
        template = ReadTemplate(shape.table, nests_below(compiler.selection, choice, shape))

        def plan(variables: VariableValues) -> Read | None:
            id = id_in(variables)
            return only(template.bind(variables), id) if is_identifier(id) else None

        return Root(choice.key, plan, Rendering(compiler.row(choice, shape)))

    return make


def paged(shape: Shape, asked: Callable[[dict[str, Any]], Asked]) -> Callable[[Compiler, Choice], Root]:
    """A field that shows a page of rows."""

    def make(compiler: Compiler, choice: Choice) -> Root:
        template = connection_template(compiler.selection, choice, shape, asked)
        return Root(choice.key, template.bind, Rendering(compiler.connection(choice, shape)))

    return make


Roots = Mapping[str, Callable[[Compiler, Choice], Root]]
"""How each root field is compiled."""

ROOTS: Roots = {
    "graphNode": single(NODE),
    "graphEdge": single(EDGE),
    "graphNodes": paged(NODE, listed_nodes),
    "graphEdges": paged(EDGE, listed_edges),
    "findByProperty": paged(NODE, nodes_by_property),
    "roots": paged(NODE, root_nodes),
}
