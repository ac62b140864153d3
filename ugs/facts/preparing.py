"""Loading what a group of commands will look at, in a few statements rather than a few per fact.

Only the usual look-ups are foreseen. A decision that asks for something else simply asks the store, so nothing here
decides anything; and what is not well formed is left out, because refusing it is the business of its own command.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.catalog import Row, Table
from ugs.desk import Desk
from ugs.errors import UgsError
from ugs.facts.asserting import AddFact, same_matter
from ugs.facts.entities import UpsertEntity
from ugs.facts.ingesting import Ingest
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_MERGES, FACTS, PREDICATE_ALIASES, PREDICATES
from ugs.facts.names import Space, checked_id, checked_space, display_name, normalize_name, scope_keys
from ugs.facts.resolving import is_aliased, is_named, is_said
from ugs.feature import Command
from ugs.reads.where import Where, all_of, in_


class Matter(Struct, frozen=True):
    """A subject and a predicate, as names, in a scope of a project; either may be missing."""

    space: Space
    scope: str
    subject: str | None = None
    predicate: str | None = None


FACTUAL = frozenset({AddFact, UpsertEntity, Ingest})
"""Commands that name something here."""


async def prepare_group(desk: Desk, commands: Sequence[Command]) -> None:
    """Load entities, predicates and facts that the commands name."""
    if FACTUAL.isdisjoint(map(type, commands)):
        return
    matters = set(_usable(matter for command in commands for matter in _named(command)))
    if not matters:
        return
    names = sorted({(m.space, m.subject) for m in matters if m.subject}, key=str)
    await _know_names(desk, names)
    await _know_predicates(desk, sorted({(m.space, m.predicate) for m in matters if m.predicate}, key=str))
    await _know_facts(desk, [m for m in matters if m.subject and m.predicate])


def _named(command: Command) -> Iterator[Matter]:
    if isinstance(command, AddFact):
        space = Space(command.tenant_id, command.project_id)
        yield Matter(space, command.scope, command.subject.name, command.predicate)
        if command.object_entity is not None:
            yield Matter(space, command.scope, command.object_entity.name)
    elif isinstance(command, UpsertEntity):
        yield Matter(Space(command.tenant_id, command.project_id), "", command.name)
    elif isinstance(command, Ingest):
        yield from _ingested(command)


def _ingested(command: Ingest) -> Iterator[Matter]:
    space = Space(command.tenant_id, command.project_id)
    for note in command.notes:
        for mention in note.entities:
            yield Matter(space, command.scope, mention.canonical)
        for relation in note.relations:
            yield Matter(space, command.scope, relation.subject, relation.predicate)
            yield Matter(space, command.scope, relation.object.entity)


def _usable(matters: Iterable[Matter]) -> Iterator[Matter]:
    """Those that no store could stumble over, with their names normalised."""
    for matter in matters:
        try:
            checked_space(matter.space.tenant, matter.space.project)
            scope = matter.scope and checked_id(matter.scope, "scope")
            names = [None if name is None else _norm(name) for name in (matter.subject, matter.predicate)]
        except UgsError:
            continue
        yield Matter(matter.space, scope, *names)


def _norm(name: str) -> str:
    return normalize_name(display_name(name))


async def _know_names(desk: Desk, named: list[tuple[Space, Any]]) -> None:
    norms = sorted({norm for _, norm in named})
    if not norms:
        return
    for table in (ENTITIES, ENTITY_MERGES):
        rows = await desk.session.fetch(table, in_("canonical_norm", norms))
        _know(desk, table, rows, lambda row: (row.tenant_id, row.project_id, row.canonical_norm), {
            (space.tenant, space.project, norm): is_named(space, norm) for space, norm in named
        })  # fmt: skip
    aliases = await desk.session.fetch(ENTITY_ALIASES, in_("alias_norm", norms))
    _know(desk, ENTITY_ALIASES, aliases, lambda row: row.alias_norm, {norm: is_aliased(norm) for norm in norms})


def _know(desk: Desk, table: Table, rows: list[Row], key: Callable[[Row], Any], wheres: dict[Any, Where]) -> None:
    """Tell the desk the answer to each condition."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    for value, where in wheres.items():
        desk.know(table, where, groups[value])


async def _know_predicates(desk: Desk, said: list[tuple[Space, Any]]) -> None:
    norms = sorted({norm for _, norm in said})
    keys = sorted({key for space, _ in said for key in scope_keys(space)})
    if not norms:
        return
    rows = await desk.session.fetch(PREDICATE_ALIASES, all_of(in_("alias_norm", norms), in_("scope_key", keys)))
    for space, norm in said:
        mine = [row for row in rows if row.alias_norm == norm and row.scope_key in scope_keys(space)]
        desk.know(PREDICATE_ALIASES, is_said(space, norm), mine)
    await desk.prefetch((PREDICATES, row.predicate_id) for row in rows)


async def _know_facts(desk: Desk, matters: list[Matter]) -> None:
    """Facts about the same matters, where subject and predicate are known already."""
    wheres: dict[tuple[str, ...], Where] = {}
    for matter in matters:
        subjects = await desk.fetch(ENTITIES, is_named(matter.space, matter.subject or ""))
        aliases = await desk.fetch(PREDICATE_ALIASES, is_said(matter.space, matter.predicate or ""))
        for subject in subjects:
            for alias in aliases:
                space, ends = matter.space, (subject.entity_id, alias.predicate_id)
                wheres[space.tenant, space.project, matter.scope, *ends] = same_matter(space, matter.scope, *ends)
    if not wheres:
        return
    subject_ids, predicate_ids = sorted({key[3] for key in wheres}), sorted({key[4] for key in wheres})
    among = all_of(in_("subject_entity_id", subject_ids), in_("predicate_id", predicate_ids))
    rows = await desk.session.fetch(FACTS, among)
    _know(desk, FACTS, rows, lambda row: (
        row.tenant_id, row.project_id, row.scope, row.subject_entity_id, row.predicate_id
    ), wheres)  # fmt: skip
