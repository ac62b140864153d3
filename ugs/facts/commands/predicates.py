"""Commands about predicates: a vocabulary that grows on use and is curated by an operator.

An unknown predicate is registered automatically as pending and multi-valued, so that nothing is superseded until an
operator activates it. Status goes from pending to active to deprecated and never back; deprecated predicates are
frozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

import msgspec

from ugs.events import Draft
from ugs.facts.access import AccessScope, agent_key
from ugs.facts.errors import InvalidFact, PredicateConflict, PredicateInUse
from ugs.facts.events import build_draft, to_payload
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
from ugs.facts.normalization import (
    GLOBAL,
    Space,
    display_name,
    new_id,
    normalize_name,
    own_key,
    project_key,
    validate_space,
)
from ugs.facts.resolution import find_predicate, get_predicate
from ugs.facts.temporal.instants import start_of
from ugs.facts.temporal.timeline import drop_overrides, refresh_overrides
from ugs.feature import Command, Decider, Decision
from ugs.reads.filters import all_of, eq
from ugs.reads.plan import Order
from ugs.unit_of_work import UnitOfWork

TENANT_PROJECT, PROJECT, EVERYWHERE = "tenant_project", "project", "global"
LEVELS = (TENANT_PROJECT, PROJECT, EVERYWHERE)
STATUSES = (PENDING, ACTIVE, DEPRECATED)
CARDINALITIES = (SINGLE, MULTI)
MOVES = {PENDING: {PENDING, ACTIVE, DEPRECATED}, ACTIVE: {ACTIVE, DEPRECATED}, DEPRECATED: {DEPRECATED}}


class RegisterPredicate(Command, frozen=True):
    """Register a predicate at a level, with the alias as its name."""

    tenant_id: str
    project_id: str
    alias: str
    level: str = TENANT_PROJECT
    status: str = PENDING
    cardinality: str = MULTI


class ConfigurePredicate(Command, frozen=True):
    """Change a predicate; with `expected_*` only if it still has the expected values."""

    predicate_id: str
    status: str | None = None
    cardinality: str | None = None
    canonical: str | None = None
    add_aliases: tuple[str, ...] = ()
    expected_status: str | None = None
    expected_cardinality: str | None = None
    keep_latest: bool = False
    """End all but the latest open fact of every key."""
    space: Space | None = None


class DeletePredicate(Command, frozen=True):
    """Delete a predicate that no fact refers to, with its aliases."""

    predicate_id: str
    space: Space | None = None
    agent: str | None = None


def _validate_choice(value: str, allowed: tuple[str, ...], what: str) -> str:
    if value not in allowed:
        raise InvalidFact(f"{what} is one of {', '.join(allowed)}, not {str(value)[:40]!r}", field=what)
    return value


def key_of_level(level: str, space: Space) -> tuple[str, str | None, str | None]:
    """The scope key of a level, with its tenant and project."""
    if _validate_choice(level, LEVELS, "level") == TENANT_PROJECT:
        return own_key(space), space.tenant, space.project
    return (project_key(space), None, space.project) if level == PROJECT else (GLOBAL, None, None)


def level_of(scope_key: str) -> str:
    if scope_key == GLOBAL:
        return EVERYWHERE
    return PROJECT if scope_key.startswith("__project__:") else TENANT_PROJECT


async def register_predicate(command: RegisterPredicate, uow: UnitOfWork) -> Decision:
    """Decide the registration of a predicate; one that is known at the level stays unchanged."""
    space = validate_space(command.tenant_id, command.project_id)
    _validate_choice(command.status, STATUSES, "status")
    _validate_choice(command.cardinality, CARDINALITIES, "cardinality")
    key, tenant, project = key_of_level(command.level, space)
    name = display_name(command.alias, "predicate")
    if await _alias_at(uow, key, name) is None:
        await _register(uow, Predicate(
            new_id(), key, tenant, project, name, normalize_name(name), command.cardinality, command.status,
            start_of(uow.now), start_of(uow.now),
        ))  # fmt: skip
    return Decision([])


async def _alias_at(uow: UnitOfWork, scope_key: str, name: str) -> PredicateAlias | None:
    named = all_of(eq("alias_norm", normalize_name(name)), eq("scope_key", scope_key))
    found = await uow.fetch(PREDICATE_ALIASES, named)
    return found[0] if found else None


async def _register(uow: UnitOfWork, row: Predicate) -> Predicate:
    """Stage a predicate with its first alias, without which it could not be found."""
    same_name = all_of(eq("canonical_norm", row.canonical_norm), eq("scope_key", row.scope_key))
    if await uow.fetch(PREDICATES, same_name):
        raise PredicateConflict(f"a predicate is already called {row.canonical!r} here", name=row.canonical)
    alias = PredicateAlias(new_id(), row.predicate_id, row.scope_key, row.canonical, row.canonical_norm, row.created_at)
    await uow.stage([build_draft(PREDICATES, row), build_draft(PREDICATE_ALIASES, alias)])
    return row


async def ensure_predicate(uow: UnitOfWork, space: Space, surface: str) -> Predicate:
    """The predicate with this alias; an unknown one is registered as pending and multi-valued."""
    found = await find_predicate(uow, space, surface)
    if found is not None:
        return found
    name, now = display_name(surface, "predicate"), start_of(uow.now)
    key = own_key(space)
    row = Predicate(new_id(), key, space.tenant, space.project, name, normalize_name(name), MULTI, PENDING, now, now)
    return await _register(uow, row)


async def configure_predicate(command: ConfigurePredicate, uow: UnitOfWork) -> Decision:
    """Decide a change of a predicate's settings."""
    found = await get_predicate(uow, command.predicate_id, command.space)
    _check_change(command, found)
    drafts = await _new_settings(command, found, uow)
    for alias in command.add_aliases:
        drafts += await _alias_drafts(uow, found, alias)
    if command.keep_latest:
        drafts += await _keep_latest(uow, found)
    await uow.stage(drafts)
    await _refresh_timelines(uow, found, await get_predicate(uow, found.predicate_id, None), command.keep_latest)
    return Decision([])


async def _refresh_timelines(uow: UnitOfWork, before: Predicate, after: Predicate, has_ended: bool) -> None:
    """Recompute the overrides of all keys if the predicate supersedes now; drop them if it became multi-valued."""
    begins = after.supersedes and (has_ended or not before.supersedes)
    if not begins and not (before.supersedes and after.cardinality == MULTI):
        return
    facts = await uow.fetch(FACTS, eq("predicate_id", after.predicate_id))
    if not begins:
        await drop_overrides(uow, facts)
        return
    for _, group in groupby(sorted(facts, key=_matter), _matter):
        await refresh_overrides(uow, list(group))


def _matter(fact: Fact) -> tuple[str, ...]:
    return fact.tenant_id, fact.project_id, fact.scope, fact.subject_entity_id, agent_key(fact.scope, fact.agent_id)


def _check_change(command: ConfigurePredicate, found: Predicate) -> None:
    nothing = (command.status, command.cardinality, command.canonical) == (None, None, None)
    if nothing and not command.add_aliases and not command.keep_latest:
        raise InvalidFact("say what to change: status, cardinality, canonical or addAliases", field="input")
    for name, allowed in (("status", STATUSES), ("cardinality", CARDINALITIES)):
        wanted, expected = getattr(command, name), getattr(command, f"expected_{name}")
        if wanted is not None:
            _validate_choice(wanted, allowed, name)
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


async def _new_settings(command: ConfigurePredicate, found: Predicate, uow: UnitOfWork) -> list[Draft]:
    changed: dict[str, Any] = {
        name: value
        for name in ("status", "cardinality")
        if (value := getattr(command, name)) not in (None, getattr(found, name))
    }
    if command.canonical is not None and (name := display_name(command.canonical, "canonical")) != found.canonical:
        taken = await uow.fetch(
            PREDICATES, all_of(eq("canonical_norm", normalize_name(name)), eq("scope_key", found.scope_key))
        )
        if [row for row in taken if row.predicate_id != found.predicate_id]:
            raise PredicateConflict(f"another predicate is called {name!r}", name=name)
        changed |= {"canonical": name, "canonical_norm": normalize_name(name)}
    if not changed:
        return []
    changed["updated_at"] = start_of(uow.now)
    data = {"predicate_id": found.predicate_id, **to_payload(changed)}
    drafts = [Draft("PredicateUpdated", found.predicate_id, data)]
    # Predicates are looked up by alias only, so the new name must be an alias, too.
    return drafts + (await _alias_drafts(uow, found, changed["canonical"]) if "canonical" in changed else [])


async def _alias_drafts(uow: UnitOfWork, predicate: Predicate, alias: str) -> list[Draft]:
    text = display_name(alias, "alias")
    known = await _alias_at(uow, predicate.scope_key, text)
    if known is not None and known.predicate_id != predicate.predicate_id:
        raise PredicateConflict(
            f"{text!r} is already an alias of another predicate", alias=text, predicateId=known.predicate_id
        )
    if known is not None:
        return (
            [] if known.alias == text else [build_draft(PREDICATE_ALIASES, msgspec.structs.replace(known, alias=text))]
        )
    row = PredicateAlias(
        new_id(), predicate.predicate_id, predicate.scope_key, text, normalize_name(text), start_of(uow.now)
    )
    return [build_draft(PREDICATE_ALIASES, row)]


def conflicting(facts: list[Fact]) -> list[list[Fact]]:
    """Groups of open facts that conflict once their predicate is single-valued, by key, latest last."""
    ordered = sorted(facts, key=lambda fact: (*_matter(fact), fact.valid_from, fact.created_at, fact.fact_id))
    groups = [list(group) for _, group in groupby(ordered, _matter)]
    return [group for group in groups if len(group) > 1]


async def _keep_latest(uow: UnitOfWork, predicate: Predicate) -> list[Draft]:
    """End each open fact where the next one of its key begins, because of that one's first note."""
    open_facts = await uow.fetch(FACTS, all_of(eq("predicate_id", predicate.predicate_id), OPEN))
    drafts: list[Draft] = []
    for group in conflicting(open_facts):
        for fact, later in pairwise(group):
            drafts += await _succession(uow, predicate, fact, later)
    return drafts


async def _succession(uow: UnitOfWork, predicate: Predicate, fact: Fact, later: Fact) -> list[Draft]:
    # Of facts that begin at the same instant, the one recorded first gets the shortest possible window.
    end = max(later.valid_from, fact.valid_from + 1)
    ended = {"fact_id": fact.fact_id, "valid_to": end, "updated_at": start_of(uow.now)}
    reason = {"reason": f"{predicate.canonical} became single-valued"}
    drafts = [Draft("FactInvalidated", fact.fact_id, to_payload(ended) | reason)]
    notes = await uow.fetch(EVIDENCE, eq("fact_id", later.fact_id), (Order("created_at"),))
    if notes:
        row = Supersession(
            new_id(), fact.tenant_id, fact.project_id, fact.fact_id, later.fact_id, notes[0].note_id, end,
            start_of(uow.now),
        )  # fmt: skip
        drafts.append(build_draft(SUPERSESSIONS, row))
    return drafts


async def delete_predicate(command: DeletePredicate, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a predicate; raises `PredicateInUse` if facts refer to it."""
    found = await get_predicate(uow, command.predicate_id, command.space)
    facts = await uow.fetch(FACTS, eq("predicate_id", found.predicate_id))
    if facts:
        raise PredicateInUse(found.predicate_id, sum(map(AccessScope(command.space, command.agent).sees, facts)))
    return Decision([Draft("PredicateDeleted", found.predicate_id, {"predicate_id": found.predicate_id})])


DECIDERS: Mapping[type[Command], Decider] = {
    RegisterPredicate: register_predicate,
    ConfigurePredicate: configure_predicate,
    DeletePredicate: delete_predicate,
}
