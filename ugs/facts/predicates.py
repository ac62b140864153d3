"""Commands about predicates: a vocabulary that grows by itself and is put in order by an operator.

An unknown predicate registers itself as pending and multi-valued, so nothing supersedes anything until somebody
decides. Status goes from pending to active to deprecated and never back; deprecated predicates are frozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

import msgspec

from ugs.desk import Desk
from ugs.events import Draft
from ugs.facts.errors import InvalidFact, PredicateConflict, PredicateInUse
from ugs.facts.events import draft_of, told
from ugs.facts.instants import start_of
from ugs.facts.model import (
    ACTIVE,
    DEPRECATED,
    EVIDENCE,
    FACTS,
    MULTI,
    OPEN,
    PENDING,
    PREDICATE_ALIASES,
    PREDICATES,
    SINGLE,
    SUPERSESSIONS,
    Fact,
    Predicate,
    PredicateAlias,
    Supersession,
)
from ugs.facts.names import GLOBAL, Space, checked_space, display_name, new_id, normalize_name, own_key, project_key
from ugs.facts.resolving import find_predicate, get_predicate
from ugs.feature import Command, Decider, Decision
from ugs.reads.plan import Order
from ugs.reads.where import all_of, eq

TENANT_PROJECT, PROJECT, EVERYWHERE = "tenant_project", "project", "global"
LEVELS = (TENANT_PROJECT, PROJECT, EVERYWHERE)
STATUSES = (PENDING, ACTIVE, DEPRECATED)
CARDINALITIES = (SINGLE, MULTI)
MOVES = {PENDING: {PENDING, ACTIVE, DEPRECATED}, ACTIVE: {ACTIVE, DEPRECATED}, DEPRECATED: {DEPRECATED}}


class RegisterPredicate(Command, frozen=True):
    """Know a predicate at a level, with the alias as its name."""

    tenant_id: str
    project_id: str
    alias: str
    level: str = TENANT_PROJECT
    status: str = PENDING
    cardinality: str = MULTI


class ConfigurePredicate(Command, frozen=True):
    """Change a predicate; with `expected_*` only if it still is what the caller saw."""

    predicate_id: str
    status: str | None = None
    cardinality: str | None = None
    canonical: str | None = None
    add_aliases: tuple[str, ...] = ()
    expected_status: str | None = None
    expected_cardinality: str | None = None
    keep_latest: bool = False
    """Close all but the latest open fact of every subject."""
    space: Space | None = None


class DeletePredicate(Command, frozen=True):
    """Forget a predicate that no fact refers to, with its aliases."""

    predicate_id: str
    space: Space | None = None


def _one_of(value: str, allowed: tuple[str, ...], what: str) -> str:
    if value not in allowed:
        raise InvalidFact(f"{what} is one of {', '.join(allowed)}, not {str(value)[:40]!r}", field=what)
    return value


def key_of_level(level: str, space: Space) -> tuple[str, str | None, str | None]:
    """The scope key of a level, with the tenant and project that it names."""
    if _one_of(level, LEVELS, "level") == TENANT_PROJECT:
        return own_key(space), space.tenant, space.project
    return (project_key(space), None, space.project) if level == PROJECT else (GLOBAL, None, None)


def level_of(scope_key: str) -> str:
    if scope_key == GLOBAL:
        return EVERYWHERE
    return PROJECT if scope_key.startswith("__project__:") else TENANT_PROJECT


async def register_predicate(command: RegisterPredicate, desk: Desk) -> Decision:
    """Decide about a predicate of a level; one that is known there stays as it is."""
    space = checked_space(command.tenant_id, command.project_id)
    _one_of(command.status, STATUSES, "status")
    _one_of(command.cardinality, CARDINALITIES, "cardinality")
    key, tenant, project = key_of_level(command.level, space)
    name = display_name(command.alias, "predicate")
    if await _alias_at(desk, key, name) is None:
        await _register(desk, Predicate(
            new_id(), key, tenant, project, name, normalize_name(name), command.cardinality, command.status,
            start_of(desk.now), start_of(desk.now),
        ))  # fmt: skip
    return Decision([])


async def _alias_at(desk: Desk, scope_key: str, name: str) -> PredicateAlias | None:
    named = all_of(eq("alias_norm", normalize_name(name)), eq("scope_key", scope_key))
    found = await desk.fetch(PREDICATE_ALIASES, named)
    return found[0] if found else None


async def _register(desk: Desk, row: Predicate) -> Predicate:
    """Predicate and first alias together: one without the other could not be found again."""
    same_name = all_of(eq("canonical_norm", row.canonical_norm), eq("scope_key", row.scope_key))
    if await desk.fetch(PREDICATES, same_name):
        raise PredicateConflict(f"a predicate is already called {row.canonical!r} here", name=row.canonical)
    alias = PredicateAlias(new_id(), row.predicate_id, row.scope_key, row.canonical, row.canonical_norm, row.created_at)
    await desk.stage([draft_of(PREDICATES, row), draft_of(PREDICATE_ALIASES, alias)])
    return row


async def ensure_predicate(desk: Desk, space: Space, surface: str) -> Predicate:
    """The predicate a text means; an unknown one registers itself as pending and multi-valued."""
    found = await find_predicate(desk, space, surface)
    if found is not None:
        return found
    name, now = display_name(surface, "predicate"), start_of(desk.now)
    key = own_key(space)
    row = Predicate(new_id(), key, space.tenant, space.project, name, normalize_name(name), MULTI, PENDING, now, now)
    return await _register(desk, row)


async def configure_predicate(command: ConfigurePredicate, desk: Desk) -> Decision:
    """Decide about new settings of a predicate."""
    found = await get_predicate(desk, command.predicate_id, command.space)
    _check_change(command, found)
    drafts = await _new_settings(command, found, desk)
    for alias in command.add_aliases:
        drafts += await _alias_drafts(desk, found, alias)
    if command.keep_latest:
        drafts += await _keep_latest(desk, found)
    return Decision(drafts)


def _check_change(command: ConfigurePredicate, found: Predicate) -> None:
    nothing = (command.status, command.cardinality, command.canonical) == (None, None, None)
    if nothing and not command.add_aliases and not command.keep_latest:
        raise InvalidFact("say what to change: status, cardinality, canonical or addAliases", field="input")
    for name, allowed in (("status", STATUSES), ("cardinality", CARDINALITIES)):
        wanted, expected = getattr(command, name), getattr(command, f"expected_{name}")
        if wanted is not None:
            _one_of(wanted, allowed, name)
        if expected is not None and expected != getattr(found, name):
            raise PredicateConflict(
                f"the predicate was expected to be {expected}, but it is {getattr(found, name)}. Read it again.",
                predicateId=found.predicate_id, expected=expected, current=getattr(found, name),
            )  # fmt: skip
    _check_move(command, found)


def _check_move(command: ConfigurePredicate, found: Predicate) -> None:
    wanted = command.status or found.status
    changed = command.cardinality not in (None, found.cardinality) or command.canonical or command.add_aliases
    if wanted not in MOVES[found.status] or (found.status == DEPRECATED and changed):
        raise PredicateConflict(
            f"the predicate {found.canonical!r} is {found.status} and cannot become {wanted}"
            if wanted != found.status
            else f"the predicate {found.canonical!r} is deprecated and stays as it is",
            predicateId=found.predicate_id, current=found.status,
        )  # fmt: skip


async def _new_settings(command: ConfigurePredicate, found: Predicate, desk: Desk) -> list[Draft]:
    changed: dict[str, Any] = {
        name: value
        for name in ("status", "cardinality")
        if (value := getattr(command, name)) not in (None, getattr(found, name))
    }
    if command.canonical is not None and (name := display_name(command.canonical, "canonical")) != found.canonical:
        taken = await desk.fetch(
            PREDICATES, all_of(eq("canonical_norm", normalize_name(name)), eq("scope_key", found.scope_key))
        )
        if [row for row in taken if row.predicate_id != found.predicate_id]:
            raise PredicateConflict(f"another predicate is called {name!r}", name=name)
        changed |= {"canonical": name, "canonical_norm": normalize_name(name)}
    if not changed:
        return []
    changed["updated_at"] = start_of(desk.now)
    data = {"predicate_id": found.predicate_id, **told(changed)}
    drafts = [Draft("PredicateUpdated", found.predicate_id, data)]
    # A name nobody could resolve would be no name: predicates are found by alias only.
    return drafts + (await _alias_drafts(desk, found, changed["canonical"]) if "canonical" in changed else [])


async def _alias_drafts(desk: Desk, predicate: Predicate, alias: str) -> list[Draft]:
    text = display_name(alias, "alias")
    known = await _alias_at(desk, predicate.scope_key, text)
    if known is not None and known.predicate_id != predicate.predicate_id:
        raise PredicateConflict(
            f"{text!r} is already an alias of another predicate", alias=text, predicateId=known.predicate_id
        )
    if known is not None:
        return [] if known.alias == text else [draft_of(PREDICATE_ALIASES, msgspec.structs.replace(known, alias=text))]
    row = PredicateAlias(
        new_id(), predicate.predicate_id, predicate.scope_key, text, normalize_name(text), start_of(desk.now)
    )
    return [draft_of(PREDICATE_ALIASES, row)]


def conflicting(facts: list[Fact]) -> list[list[Fact]]:
    """Open facts of one predicate that exclude each other once it is single-valued, by key, latest last."""

    def key(fact: Fact) -> tuple[str, ...]:
        return fact.tenant_id, fact.project_id, fact.scope, fact.subject_entity_id

    ordered = sorted(facts, key=lambda fact: (*key(fact), fact.valid_from, fact.created_at, fact.fact_id))
    groups = [list(group) for _, group in groupby(ordered, key)]
    return [group for group in groups if len(group) > 1]


async def _keep_latest(desk: Desk, predicate: Predicate) -> list[Draft]:
    """Each open fact ends where the next one of its subject begins; that one's first note is the reason."""
    open_facts = await desk.fetch(FACTS, all_of(eq("predicate_id", predicate.predicate_id), OPEN))
    drafts: list[Draft] = []
    for group in conflicting(open_facts):
        for fact, later in pairwise(group):
            drafts += await _succession(desk, predicate, fact, later)
    return drafts


async def _succession(desk: Desk, predicate: Predicate, fact: Fact, later: Fact) -> list[Draft]:
    # Facts that begin together cannot follow each other: the one recorded first gets the shortest window there is.
    end = max(later.valid_from, fact.valid_from + 1)
    ended = {"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(desk.now)}
    reason = {"reason": f"{predicate.canonical} became single-valued"}
    drafts = [Draft("FactInvalidated", fact.fact_id, told(ended) | reason)]
    notes = await desk.fetch(EVIDENCE, eq("fact_id", later.fact_id), (Order("created_at"),))
    if notes:
        row = Supersession(
            new_id(), fact.tenant_id, fact.project_id, fact.fact_id, later.fact_id, notes[0].note_id, end,
            start_of(desk.now),
        )  # fmt: skip
        drafts.append(draft_of(SUPERSESSIONS, row))
    return drafts


async def delete_predicate(command: DeletePredicate, desk: Desk) -> Decision:
    """Decide whether a predicate may go."""
    found = await get_predicate(desk, command.predicate_id, command.space)
    facts = await desk.fetch(FACTS, eq("predicate_id", found.predicate_id))
    if facts:
        raise PredicateInUse(found.predicate_id, len(facts))
    return Decision([Draft("PredicateDeleted", found.predicate_id, {"predicate_id": found.predicate_id})])


DECIDERS: Mapping[type[Command], Decider] = {
    RegisterPredicate: register_predicate,
    ConfigurePredicate: configure_predicate,
    DeletePredicate: delete_predicate,
}
