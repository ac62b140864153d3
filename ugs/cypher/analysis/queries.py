"""Analysis of clauses in order, and of the parts of a UNION against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher import syntax as s
from ugs.cypher.analysis.expressions import Scope, check, check_condition, forbid_aggregates, undefined_variable
from ugs.cypher.analysis.patterns import bind_patterns
from ugs.cypher.analysis.projections import check_projection, expand_items, is_narrow, substitute_columns
from ugs.cypher.analysis.tree_walk import free_variables
from ugs.cypher.errors import CypherError, CypherSyntaxError
from ugs.cypher.procedures import find_procedure, yielded_fields
from ugs.cypher.static_types import ANY, find_common_kind

Columns = Scope
"""Result columns with their static types, in order."""
MAX_STARRED = 10_000
"""Columns that the `*` of one query stand for: a short text could otherwise have very many."""


def analyse(statement: s.Statement, text: str) -> list[str]:
    """The columns of a valid query; raises the first error found."""
    try:
        return list(check_query(statement.query, {}) or {})
    except CypherError as error:
        error.locate(text)
        raise


def check_query(query: s.Query, scope: Scope, inner: bool = False) -> Columns | None:
    """The columns of a query; a subquery may have none and sees the scope around it."""
    columns = [check_single(part, scope) for part in query.parts]
    return _unite(query, columns)


def _unite(query: s.Query, columns: list[Columns | None]) -> Columns | None:
    """The columns of a UNION, which must be the same in all parts."""
    if any(set(names or ()) != set(columns[0] or ()) for names in columns):
        message = "All parts of a UNION must have the same columns"
        raise CypherSyntaxError("DifferentColumnsInUnion", message, query.parts[-1].clauses[-1].at)
    if columns[0] is None or len(columns) == 1:
        return columns[0]
    return {name: find_common_kind([part[name] for part in columns if part is not None]) for name in columns[0]}


def check_single(single: s.Single, outer: Scope, scope: Scope | None = None) -> Columns | None:
    scope, columns, starred = dict(outer if scope is None else scope), None, 0
    for clause in single.clauses:
        if isinstance(clause, s.With | s.Return) and clause.projection.everything:
            starred += len(scope)
            if starred > MAX_STARRED:
                message = f"`*` stands for more than {MAX_STARRED} columns in all: name those that are needed"
                raise CypherSyntaxError("QueryTooLong", message, clause.at)
        scope, columns = CLAUSES[type(clause)](clause, scope, outer)
    return columns


def _match(clause: s.Match, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    inner = bind_patterns(clause.patterns, scope)
    if clause.where is not None:
        check_condition(clause.where, inner, "WHERE")
    return inner, None


def _unwind(clause: s.Unwind, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    forbid_aggregates(clause.source, "UNWIND")
    kind = check(clause.source, scope)
    if clause.variable in scope:
        raise CypherSyntaxError("VariableAlreadyBound", f"{clause.variable} has been defined before", clause.at)
    return {**scope, clause.variable: kind.item or ANY}, None


def _with(clause: s.With, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    after, visible = check_projection(clause.projection, scope, clause.at, is_with=True)
    if clause.where is not None:
        where = resolve_condition(clause, list(scope))
        check_condition(where, {**outer, **visible}, "WHERE")
    return {**outer, **after}, None


def resolve_condition(clause: s.With, names: list[str]) -> s.Expression:
    """The WHERE of a WITH; what was projected is meant by its column once only columns are left."""
    assert clause.where is not None
    if not is_narrow(clause.projection):
        return clause.where
    found: s.Expression = substitute_columns(clause.where, expand_items(clause.projection, names))
    return found


def _return(clause: s.Return, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    after, _ = check_projection(clause.projection, scope, clause.at, is_with=False)
    return after, after


def _finish(clause: s.Finish, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    return {}, None


def _call_subquery(clause: s.CallSubquery, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    columns = _check_importing(clause, scope) if clause.imports is None else _check_scoped(clause, scope)
    return {**scope, **_added(columns or {}, scope, clause.at)}, None


def _added(columns: Scope, scope: Scope, at: int) -> Scope:
    for name in columns:
        if name in scope:
            message = f"{name} has been defined before: return it from the subquery under another name"
            raise CypherSyntaxError("VariableAlreadyBound", message, at)
    return columns


def _check_scoped(clause: s.CallSubquery, scope: Scope) -> Columns | None:
    """`CALL (x) { … }`: the imported variables are constants of the whole subquery."""
    for name in clause.imports or ():
        if name not in scope:
            raise undefined_variable(name, scope, clause.at)
    if len(set(clause.imports or ())) < len(clause.imports or ()):
        raise CypherSyntaxError("VariableAlreadyBound", "A variable is imported twice", clause.at)
    imported = dict(scope) if clause.everything else {name: scope[name] for name in clause.imports or ()}
    for part in clause.query.parts:
        _forbid_shadowing(part, imported)
    return check_query(clause.query, imported, inner=True)


def _forbid_shadowing(part: s.Single, imported: Scope) -> None:
    for clause in part.clauses:
        if isinstance(clause, s.With):
            for item in clause.projection.items:
                if item.name in imported and item.value != s.Variable(item.name):
                    message = f"{item.name} is imported and cannot be defined again"
                    raise CypherSyntaxError("VariableAlreadyBound", message, item.value.at)


def _check_importing(clause: s.CallSubquery, scope: Scope) -> Columns | None:
    """`CALL { WITH x … }`: each part imports what its leading WITH names."""
    columns = []
    for part in clause.query.parts:
        imported, rest = split_import(part)
        for name in imported:
            if name not in scope:
                raise undefined_variable(name, scope, part.clauses[0].at)
        columns.append(check_single(rest, {}, {name: scope[name] for name in imported}))
    return _unite(clause.query, columns)


def split_import(part: s.Single) -> tuple[tuple[str, ...], s.Single]:
    """The variables that a leading WITH imports, and the remaining clauses."""
    first = part.clauses[0]
    if not isinstance(first, s.With) or len(part.clauses) == 1:
        return (), part
    projection = first.projection
    simple = all(isinstance(item.value, s.Variable) and item.value.name == item.name for item in projection.items)
    cut = projection.distinct or projection.order or projection.skip or projection.limit or first.where
    if not simple or cut or projection.everything:
        message = "A WITH that imports variables names them and does nothing else"
        if any(free_variables(item.value) for item in projection.items) or projection.everything:
            raise CypherSyntaxError("InvalidClauseComposition", message, first.at)
        return (), part
    return tuple(item.name for item in projection.items), s.Single(part.clauses[1:])


def _call_procedure(clause: s.CallProcedure, scope: Scope, outer: Scope) -> tuple[Scope, Columns | None]:
    procedure = find_procedure(clause)
    for argument in clause.arguments or ():
        forbid_aggregates(argument, "the argument of a procedure")
        check(argument, scope)
    columns = {alias: procedure.columns[field] for field, alias in yielded_fields(clause, procedure)}
    after = {**scope, **_added(columns, scope, clause.at)}
    if clause.where is not None:
        check_condition(clause.where, after, "WHERE")
    return after, columns if clause.alone else None


CLAUSES: dict[type, Callable[[Any, Scope, Scope], tuple[Scope, Columns | None]]] = {
    s.Match: _match,
    s.Unwind: _unwind,
    s.With: _with,
    s.Return: _return,
    s.Finish: _finish,
    s.CallSubquery: _call_subquery,
    s.CallProcedure: _call_procedure,
}
