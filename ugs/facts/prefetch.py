"""Prefetching of what a group of commands will read, in a few statements rather than a few per fact.

Only the common look-ups are covered. A decider that needs other rows reads them itself, so this affects speed only.
Malformed input is skipped here; the decider of its command rejects it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.errors import UgsError
from ugs.facts.access import agent_key
from ugs.facts.commands.entities import UpsertEntity
from ugs.facts.commands.facts import AddFact
from ugs.facts.commands.ingestion import Ingest
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_MERGES, FACTS, PREDICATE_ALIASES, PREDICATES
from ugs.facts.normalization import Space, display_name, normalize_name, scope_keys, validate_id, validate_space
from ugs.facts.resolution import is_aliased, is_named, match_predicate_alias
from ugs.facts.temporal.timeline import same_key_condition
from ugs.feature import Command
from ugs.reads.filters import Where, all_of, in_
from ugs.tables import Row, Table
from ugs.unit_of_work import UnitOfWork


class FactKey(Struct, frozen=True):
    """The key of a fact by names: subject and predicate, in a scope of a project; either may be missing."""

    space: Space
    scope: str
    subject: str | None = None
    predicate: str | None = None
    agent: str = ""


FACT_COMMANDS = frozenset({AddFact, UpsertEntity, Ingest})
"""Commands with something to prefetch."""


async def prepare_group(uow: UnitOfWork, commands: Sequence[Command]) -> None:
    """Prefetch the entities, predicates and facts that the commands name."""
    if FACT_COMMANDS.isdisjoint(map(type, commands)):
        return
    matters = set(_normalize_keys(matter for command in commands for matter in _keys_of_command(command)))
    if not matters:
        return
    names = sorted({(m.space, m.subject) for m in matters if m.subject}, key=str)
    await _prefetch_names(uow, names)
    await _prefetch_predicates(uow, sorted({(m.space, m.predicate) for m in matters if m.predicate}, key=str))
    await _prefetch_facts(uow, [m for m in matters if m.subject and m.predicate])


def _keys_of_command(command: Command) -> Iterator[FactKey]:
    if isinstance(command, AddFact):
        space = Space(command.tenant_id, command.project_id)
        yield FactKey(space, command.scope, command.subject.name, command.predicate, command.agent_id)
        if command.object_entity is not None:
            yield FactKey(space, command.scope, command.object_entity.name)
    elif isinstance(command, UpsertEntity):
        yield FactKey(Space(command.tenant_id, command.project_id), "", command.name)
    elif isinstance(command, Ingest):
        yield from _keys_of_ingestion(command)


def _keys_of_ingestion(command: Ingest) -> Iterator[FactKey]:
    space = Space(command.tenant_id, command.project_id)
    for note in command.notes:
        for mention in note.entities:
            yield FactKey(space, command.scope, mention.canonical)
        for relation in note.relations:
            yield FactKey(space, command.scope, relation.subject, relation.predicate, command.agent_id)
            yield FactKey(space, command.scope, relation.object.entity)


def _normalize_keys(matters: Iterable[FactKey]) -> Iterator[FactKey]:
    """The well-formed ones, with normalised names."""
    for matter in matters:
        try:
            validate_space(matter.space.tenant, matter.space.project)
            scope = matter.scope and validate_id(matter.scope, "scope")
            agent = matter.agent and validate_id(matter.agent, "agentId")
            subject, predicate = (None if name is None else _norm(name) for name in (matter.subject, matter.predicate))
        except UgsError:
            continue
        yield FactKey(matter.space, scope, subject, predicate, agent)


def _norm(name: str) -> str:
    return normalize_name(display_name(name))


async def _prefetch_names(uow: UnitOfWork, named: list[tuple[Space, Any]]) -> None:
    norms = sorted({norm for _, norm in named})
    if not norms:
        return
    for table in (ENTITIES, ENTITY_MERGES):
        rows = await uow.session.fetch(table, in_("canonical_norm", norms))
        _prefetch_groups(uow, table, rows, lambda row: (row.tenant_id, row.project_id, row.canonical_norm), {
            (space.tenant, space.project, norm): is_named(space, norm) for space, norm in named
        })  # fmt: skip
    aliases = await uow.session.fetch(ENTITY_ALIASES, in_("alias_norm", norms))
    _prefetch_groups(
        uow, ENTITY_ALIASES, aliases, lambda row: row.alias_norm, {norm: is_aliased(norm) for norm in norms}
    )


def _prefetch_groups(
    uow: UnitOfWork, table: Table, rows: list[Row], key: Callable[[Row], Any], wheres: dict[Any, Where]
) -> None:
    """Cache the result of each condition in the unit of work."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    for value, where in wheres.items():
        uow.cache_rows(table, where, groups[value])


async def _prefetch_predicates(uow: UnitOfWork, said: list[tuple[Space, Any]]) -> None:
    norms = sorted({norm for _, norm in said})
    keys = sorted({key for space, _ in said for key in scope_keys(space)})
    if not norms:
        return
    rows = await uow.session.fetch(PREDICATE_ALIASES, all_of(in_("alias_norm", norms), in_("scope_key", keys)))
    for space, norm in said:
        mine = [row for row in rows if row.alias_norm == norm and row.scope_key in scope_keys(space)]
        uow.cache_rows(PREDICATE_ALIASES, match_predicate_alias(space, norm), mine)
    await uow.prefetch((PREDICATES, row.predicate_id) for row in rows)


async def _prefetch_facts(uow: UnitOfWork, matters: list[FactKey]) -> None:
    """Prefetch the facts of the keys whose subject and predicate exist."""
    wheres: dict[tuple[str, ...], Where] = {}
    for matter in matters:
        subjects = await uow.fetch(ENTITIES, is_named(matter.space, matter.subject or ""))
        aliases = await uow.fetch(PREDICATE_ALIASES, match_predicate_alias(matter.space, matter.predicate or ""))
        for subject in subjects:
            for alias in aliases:
                space, ends = matter.space, (subject.entity_id, alias.predicate_id)
                where = same_key_condition(space, matter.scope, matter.agent, *ends)
                wheres[space.tenant, space.project, matter.scope, *ends, agent_key(matter.scope, matter.agent)] = where
    if not wheres:
        return
    subject_ids, predicate_ids = sorted({key[3] for key in wheres}), sorted({key[4] for key in wheres})
    among = all_of(in_("subject_entity_id", subject_ids), in_("predicate_id", predicate_ids))
    rows = await uow.session.fetch(FACTS, among)
    _prefetch_groups(uow, FACTS, rows, lambda row: (
        row.tenant_id, row.project_id, row.scope, row.subject_entity_id, row.predicate_id,
        agent_key(row.scope, row.agent_id),
    ), wheres)  # fmt: skip
