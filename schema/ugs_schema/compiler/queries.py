"""Compiled queries: a plan template and a rendering for each root field.

Only queries whose root fields are all listed in `ROOT_COMPILERS` (or those of a generated schema) are compiled.
Anything else, at compile time or at run time, is left to graphql-core, which gives the same answer and reports every
error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Protocol

from graphql import GraphQLObjectType, OperationDefinitionNode, OperationType
from graphql.execution.values import VariableValues

from ugs.errors import InvalidSyntax
from ugs.identity import is_identifier
from ugs.log.at import At
from ugs.reads.plan import Read
from ugs.reads.rendering import NULL, UNBOUNDED, RenderArgs, Rendering, check_bytes
from ugs.storage import Storage
from ugs.support.budget import charge
from ugs.system import System
from ugs_schema.compiler.plan_templates import Arguments, ReadCriteria, ReadTemplate
from ugs_schema.compiler.response_plan import Compiler
from ugs_schema.compiler.row_types import (
    NotCompilable,
    RowType,
    build_connection_template,
    build_nests_below,
    restrict_to_ids,
)
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.graph.list_arguments import parse_edge_list, parse_node_list, parse_nodes_by_property, parse_root_nodes
from ugs_schema.graph.row_types import EDGE, NODE

NULL_BYTES, BODY_START, BODY_END = NULL.encode(), b'{"data":{', b"}}"
Plan = Callable[[VariableValues], Read | None]
"""Makes the read plan for these variables; None if there can be no result."""
Moment = Callable[[VariableValues], At | None]
"""The point in time that a field asks about; None for now."""


class Root:
    """One compiled root field."""

    def __init__(self, key: str, plan: Plan, rendering: Rendering) -> None:
        self.key, self.plan, self.rendering = key, plan, rendering
        self.moment: Moment | None = None
        """The point in time of the field, if it has the argument `at`."""

    async def text(self, source: Renderer, variables: VariableValues, render_args: RenderArgs) -> bytes:
        """Read and render the field."""
        plan = self.plan(variables)
        return NULL_BYTES if plan is None else await source.render(plan, self.rendering, render_args)


class CompiledOperation:
    """A compiled query."""

    def __init__(self, roots: list[Root], binders: list[Callable[[VariableValues], Any]]) -> None:
        self.roots, self.binders = roots, binders
        self.max_bytes = UNBOUNDED
        self._travels = any(root.moment for root in roots)
        self.heads = [f'{"," if number else ""}"{root.key}":'.encode() for number, root in enumerate(roots)]
        """The JSON text in front of each root field."""

    async def run(self, system: System, variables: VariableValues) -> bytes:
        """The response for these variables; several root fields are read in one session, so from one state."""
        render_args = [bind(variables) for bind in self.binders]
        if len(self.roots) == 1:
            store = await self._find_source(self.roots[0], system, variables) or system.storage
            text = await self.roots[0].text(store, variables, render_args)
            check_bytes(len(text), self.max_bytes)
            charge(2 * len(text))
            return self._join([text])
        texts, size = [], 0
        async with system.session() as session:
            for root in self.roots:
                source = await self._find_source(root, system, variables) or session
                texts.append(await root.text(source, variables, render_args))
                size += len(texts[-1])
                check_bytes(size, self.max_bytes)
                charge(2 * len(texts[-1]))
        return self._join(texts)

    async def _find_source(self, root: Root, system: System, variables: VariableValues) -> Storage | None:
        """The state that a field asks about; None for now."""
        moment = None if root.moment is None else root.moment(variables)
        return None if moment is None else await system.moments.store_at(moment)

    def is_past(self, variables: VariableValues) -> bool:
        """Whether a field asks about the past."""
        return self._travels and any(root.moment is not None and root.moment(variables) for root in self.roots)

    def limit_bytes(self, max_bytes: int) -> None:
        """Limit the size of answers; stores that render natively check it while rendering."""
        self.max_bytes = max_bytes
        for root in self.roots:
            root.rendering.max_bytes = max_bytes

    def run_sync(self, storage: Storage, variables: VariableValues) -> bytes | None:
        """The same synchronously; None if the store cannot answer every field that way."""
        if self.is_past(variables):
            return None
        render_args, texts = [bind(variables) for bind in self.binders] if self.binders else [], []
        for root in self.roots:
            plan = root.plan(variables)
            text = NULL_BYTES if plan is None else storage.render_sync(plan, root.rendering, render_args)
            if text is None:
                return None
            texts.append(text)
        check_bytes(len(texts[0]) if len(texts) == 1 else sum(map(len, texts)), self.max_bytes)
        return self._join(texts)

    def _join(self, texts: list[bytes]) -> bytes:
        if len(texts) == 1:
            return b"".join((BODY_START, self.heads[0], texts[0], BODY_END))
        return b"".join((BODY_START, *chain.from_iterable(zip(self.heads, texts, strict=True)), BODY_END))


class Renderer(Protocol):
    """A store or a session that renders a plan."""

    async def render(self, plan: Read, rendering: Rendering, render_args: RenderArgs) -> bytes: ...


def compile_operation(
    selection: Selection, operation: OperationDefinitionNode, root_compilers: RootCompilers
) -> CompiledOperation:
    """Compile an operation of these root fields, or raise `NotCompilable`."""
    query = selection.schema.query_type
    if operation.operation is not OperationType.QUERY or not isinstance(query, GraphQLObjectType):
        raise NotCompilable(operation.operation.value)
    compiler = Compiler(selection)
    selected_fields = selection.fields(query, [operation.selection_set])
    roots = [_compile_root(compiler, selected_field, root_compilers) for selected_field in selected_fields.values()]
    return CompiledOperation(roots, compiler.binders)


def _compile_root(compiler: Compiler, selected_field: SelectedField, root_compilers: RootCompilers) -> Root:
    make = root_compilers.get(selected_field.name)
    if make is None:
        raise NotCompilable(selected_field.name)
    names = {argument.name.value for argument in selected_field.nodes[0].arguments or ()}
    if "version" in names:
        raise NotCompilable("version")
    root = make(compiler, selected_field)
    if "at" in names:
        root.moment = _compile_moment(Arguments(selected_field))
    return root


def _compile_moment(arguments: Arguments) -> Moment:
    """A function that reads the argument `at`."""

    def moment(variables: VariableValues) -> At | None:
        given = arguments(variables).get("at")
        if not given:
            return None
        ((name, value),) = _check_single(given).items()
        return At(position=value) if name == "position" else At.time(value)

    return moment


def _check_single(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(given) != 1 or None in given.values():
        raise InvalidSyntax("at takes a position or an instant: exactly one of them")
    return given


def make_row_compiler(row_type: RowType) -> Callable[[Compiler, SelectedField], Root]:
    """Compiles a field that shows one row by its id."""

    def make(compiler: Compiler, selected_field: SelectedField) -> Root:
        id_in = Arguments(selected_field).make_getter("id")
        template = ReadTemplate(row_type.table, build_nests_below(compiler.selection, selected_field, row_type))

        def plan(variables: VariableValues) -> Read | None:
            id = id_in(variables)
            return restrict_to_ids(template.bind(variables), id) if is_identifier(id) else None

        return Root(selected_field.key, plan, Rendering(compiler.row(selected_field, row_type)))

    return make


def make_page_compiler(
    row_type: RowType, parse_criteria: Callable[[dict[str, Any]], ReadCriteria]
) -> Callable[[Compiler, SelectedField], Root]:
    """Compiles a field that shows a page of rows."""

    def make(compiler: Compiler, selected_field: SelectedField) -> Root:
        template = build_connection_template(compiler.selection, selected_field, row_type, parse_criteria)
        return Root(selected_field.key, template.bind, Rendering(compiler.compile_connection(selected_field, row_type)))

    return make


RootCompilers = Mapping[str, Callable[[Compiler, SelectedField], Root]]
"""The compile function of each root field."""

ROOT_COMPILERS: RootCompilers = {
    "graphNode": make_row_compiler(NODE),
    "graphEdge": make_row_compiler(EDGE),
    "graphNodes": make_page_compiler(NODE, parse_node_list),
    "graphEdges": make_page_compiler(EDGE, parse_edge_list),
    "findByProperty": make_page_compiler(NODE, parse_nodes_by_property),
    "roots": make_page_compiler(NODE, parse_root_nodes),
}
