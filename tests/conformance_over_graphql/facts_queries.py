"""Questions about facts through GraphQL over HTTP: what is asked, chosen and refused is GraphQL's.

Answers come back as ids; the rows behind them are read from the store, and what GraphQL shows of a fact is compared
with its row on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.conformance_over_graphql.client import Door
from tests.conformance_over_graphql.graph import at_in, some
from ugs.events import Event
from ugs.facts import queries, reports
from ugs.facts.api import Facts
from ugs.facts.commands.entity_merge import MergePlan
from ugs.facts.duplicates import Suggestion
from ugs.facts.errors import FactNotFound
from ugs.facts.graph_view import Reached
from ugs.facts.model import (
    ENTITIES,
    FACTS,
    INVALIDATIONS,
    NOTES,
    PREDICATES,
    SUPERSESSIONS,
    Entity,
    Fact,
    Predicate,
    Supersession,
)
from ugs.facts.reader import SHARED, Moment, ref
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of, instant_text
from ugs.identity import LOCAL, Principal
from ugs.log.at import At
from ugs.reads.plan import WHOLE, Page
from ugs.storage import EventQuery
from ugs.system import System

FACT = """fragment F on Fact { factId tenantId projectId agentId scope predicate objectValue validFrom validTo
  subject { entityId } objectEntity { entityId } }"""
REPORTED = """state markers fact { ...F evidence { note { noteId } }
  supersededBy { toFact { factId } } supersedes { fromFact { factId } } }"""
COUNTS = "current historical future sourced inferred stale superseded ambiguous evidence"
STEP = "{ supersession { supersessionId } fact { ...F } }"
MAX_ROWS = 9999


def moment(given: Moment | None, what: str) -> str | None:
    return None if given is None else instant_text(instant_of(given, what))


def entity_in(given: str | EntityRef | Entity | None) -> dict[str, Any] | None:
    if given is None:
        return None
    meant = ref(given)
    return some({"id": meant.id, "name": meant.name, "kind": meant.kind}) or {}


def check_shown(shown: dict[str, Any], row: Fact) -> None:
    """What GraphQL shows is what is stored."""
    object = shown["objectEntity"] and shown["objectEntity"]["entityId"]
    assert (shown["subject"]["entityId"], object) == (row.subject_entity_id, row.object_entity_id)
    assert (shown["predicate"], shown["objectValue"]) == (row.predicate, row.object_value)
    assert (shown["tenantId"], shown["projectId"]) == (row.tenant_id, row.project_id)
    assert (shown["agentId"], shown["scope"]) == (row.agent_id, row.scope)
    ends = instant_of(shown["validFrom"]), None if shown["validTo"] is None else instant_of(shown["validTo"])
    assert ends == (row.valid_from, row.valid_to)


def fact_ids(shown: Iterable[dict[str, Any]]) -> list[str]:
    return [one["factId"] for one in shown]


class DoorAsking(Facts):
    """Every question that GraphQL has goes through it."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        super().__init__(system, principal)
        self.door = Door(system, principal)

    async def _found(self, call: str, kinds: str, **given: Any) -> Any:
        """The answer of one query, whose arguments are declared as `name: Type, …`."""
        declared = ", ".join(f"${part}" for part in kinds.split(", "))
        document = f"query({declared}) {{ found: {call} }}"
        return (await self.door.ask(f"{document} {FACT}" if "...F" in call else document, **given))["found"]

    async def _rows(self, table: Any, ids: Iterable[str], at: At | None = None) -> list[Any]:
        wanted = list(ids)
        async with self.known(at) as session:
            found = await session.find_many(table, sorted(set(wanted))) if wanted else []
        by_id = {getattr(row, table.key[0]): row for row in found}
        return [by_id[id] for id in wanted]

    async def _facts(self, shown: Sequence[dict[str, Any]], at: At | None = None) -> list[Fact]:
        rows: list[Fact] = await self._rows(FACTS, fact_ids(shown), at)
        for one, row in zip(shown, rows, strict=True):
            check_shown(one, row)
        return rows

    async def _events(self, shown: Sequence[dict[str, Any]]) -> list[Event]:
        positions = [event["seq"] for event in shown]
        async with self.system.session() as session:
            known = {event.position: event for event in await session.events(EventQuery())} if positions else {}
        return [known[position] for position in positions]

    # ── entities and predicates ──────────────────────────────────────────────

    async def find_entity(self, id: str, at: At | None = None) -> Entity | None:
        if at is not None:
            return await super().find_entity(id, at)
        found = await self._found("node(id: $id) { ... on Entity { entityId } }", "id: ID!", id=f"entity/{id}")
        return None if found is None else (await self._rows(ENTITIES, [found["entityId"]]))[0]

    async def entity(
        self, name: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Entity | None:
        call = "entity(name: $n, tenantId: $t, projectId: $p, at: $at) { entityId }"
        kinds = "n: String!, t: String, p: String, at: At"
        found = await self._found(call, kinds, n=name, t=tenant, p=project, at=at_in(at))
        return None if found is None else (await self._rows(ENTITIES, [found["entityId"]], at))[0]

    async def preview_merge(self, keep_id: str, merge_id: str) -> MergePlan:
        call = """mergePreview(keepId: $a, mergeId: $b) { keep { entityId } merge { entityId } aliases
          moved { factId } folded { fact { factId } into { factId } } conflicts { factId } }"""
        shown = await self._found(call, "a: ID!, b: ID!", a=keep_id, b=merge_id)
        plan = await super().preview_merge(keep_id, merge_id)
        assert (shown["keep"]["entityId"], shown["merge"]["entityId"]) == (plan.keep.entity_id, plan.merge.entity_id)
        assert (shown["aliases"], fact_ids(shown["moved"])) == (plan.aliases, [fact.fact_id for fact in plan.moved])
        folded = [(one["fact"]["factId"], one["into"]["factId"]) for one in shown["folded"]]
        assert folded == [(one.fact_id, twin.fact_id) for one, twin in plan.folded]
        assert fact_ids(shown["conflicts"]) == [fact.fact_id for group in plan.conflicts for fact in group]
        return plan

    async def suggest_duplicates(
        self, *, tenant: str | None = None, project: str | None = None, limit: int = 50
    ) -> list[Suggestion]:
        call = """duplicateEntities(tenantId: $t, projectId: $p, limit: $n) {
          reason first { entityId } second { entityId } }"""
        shown = await self._found(call, "t: String, p: String, n: Int!", t=tenant, p=project, n=limit)
        pairs = [await self._rows(ENTITIES, (one[end]["entityId"] for end in ("first", "second"))) for one in shown]
        return [Suggestion(pair[0], pair[1], one["reason"]) for pair, one in zip(pairs, shown, strict=True)]

    async def resolve_predicate(
        self, alias: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Predicate | None:
        call = "resolvePredicate(alias: $a, tenantId: $t, projectId: $p, at: $at) { predicateId }"
        kinds = "a: String!, t: String, p: String, at: At"
        found = await self._found(call, kinds, a=alias, t=tenant, p=project, at=at_in(at))
        return None if found is None else (await self._rows(PREDICATES, [found["predicateId"]], at))[0]

    async def predicates(
        self,
        status: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Predicate]:
        call = "predicates(status: $s, tenantId: $t, projectId: $p, at: $at) { predicateId }"
        kinds = "s: PredicateStatus, t: String, p: String, at: At"
        found = await self._found(call, kinds, s=status and status.upper(), t=tenant, p=project, at=at_in(at))
        return await self._rows(PREDICATES, (one["predicateId"] for one in found), at)

    # ── facts ────────────────────────────────────────────────────────────────

    async def find_fact(self, id: str, at: At | None = None) -> Fact:
        if at is not None:
            return await super().find_fact(id, at)
        shown = await self._found("node(id: $id) { ... on Fact { ...F } }", "id: ID!", id=f"fact/{id}")
        if shown is None:
            raise FactNotFound(id)
        return (await self._facts([shown]))[0]

    async def facts(
        self,
        asked: queries.FactFilter = queries.ANY_FACT,
        page: Page = WHOLE,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        """A predicate is meant by its name here, and one scope at a time."""
        assert page == Page(limit=page.limit) and len(asked.scopes or ()) < 2
        named = [] if asked.predicate is None else await self._rows(PREDICATES, [asked.predicate], at)
        call = """facts(scope: $in, subject: $s, object: $o, predicate: $f, objectValue: $v, noteId: $note, asOf: $asOf,
          includeInactive: $all, first: $n, tenantId: $t, projectId: $p, at: $at) { nodes { ...F } }"""
        kinds = (
            "in: String, s: EntityRef, o: EntityRef, f: String, v: String, note: ID, asOf: DateTime, all: Boolean!, "
            "n: Int!, t: String, p: String, at: At"
        )
        shown = await self._found(
            call,
            kinds,
            **{"in": asked.scopes[0] if asked.scopes else None, "note": asked.note, "v": asked.object_value},
            s=asked.subject and {"id": asked.subject},
            o=asked.object and {"id": asked.object},
            f=named[0].canonical if named else None,
            asOf=moment(asked.valid_at, "asOf"),
            all=asked.valid_at is None,
            n=MAX_ROWS if page.limit is None else page.limit,
            t=tenant,
            p=project,
            at=at_in(at),
        )
        return await self._facts(shown["nodes"], at)

    async def active_facts(
        self,
        subject: str | EntityRef | Entity,
        scope: str = SHARED,
        valid_at: Moment | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Fact]:
        call = "activeFacts(subject: $s, scope: $in, asOf: $v, tenantId: $t, projectId: $p, at: $at) { ...F }"
        kinds = "s: EntityRef!, in: String!, v: DateTime, t: String, p: String, at: At"
        given = {"s": entity_in(subject), "in": scope, "v": moment(valid_at, "asOf"), "t": tenant, "p": project}
        return await self._facts(await self._found(call, kinds, **given, at=at_in(at)), at)

    async def timeline(self, subject: str | EntityRef | Entity, at: At | None = None, **more: Any) -> list[Fact]:
        call = "factTimeline(subject: $s, predicate: $f, tenantId: $t, projectId: $p, at: $at) { ...F }"
        kinds = "s: EntityRef!, f: String, t: String, p: String, at: At"
        given = {"f": more.pop("predicate", None), "t": more.pop("tenant", None), "p": more.pop("project", None)}
        assert not more, more
        return await self._facts(await self._found(call, kinds, s=entity_in(subject), **given, at=at_in(at)), at)

    async def ask(self, subject: str | EntityRef | Entity, as_of: Moment | None = None, **more: Any) -> queries.Answer:
        call = """askFacts(subject: $s, predicate: $f, scopes: $in, asOf: $v, limit: $n, tenantId: $t, projectId: $p,
          at: $at) { asOf subject { entityId } predicate { predicateId } scopes truncated
          account { queried returned limit } facts { noteIds fact { ...F } } }"""
        at, limit = more.pop("at", None), more.pop("limit", 50)
        given = {**asked_about(subject, as_of, limit, more), "f": more.pop("predicate", None)}
        assert not more, more
        shown = await self._found(call, f"{ABOUT}, f: String", **given, at=at_in(at))
        facts = await self._facts([one["fact"] for one in shown["facts"]], at)
        assert (shown["account"]["returned"], shown["account"]["limit"]) == (len(facts), limit)
        named = [shown["predicate"]["predicateId"]] if shown["predicate"] else []
        return queries.Answer(
            as_of=instant_of(shown["asOf"]),
            subject=(await self._rows(ENTITIES, [shown["subject"]["entityId"]], at))[0],
            predicate=next(iter(await self._rows(PREDICATES, named, at)), None),
            scopes=shown["scopes"],
            facts=facts,
            evidence={one["fact"]["factId"]: one["noteIds"] for one in shown["facts"]},
            queried=shown["account"]["queried"],
            truncated=shown["truncated"],
        )

    async def report(
        self, subject: str | EntityRef | Entity, as_of: Moment | None = None, **more: Any
    ) -> reports.Report:
        call = f"""factReport(subject: $s, scopes: $in, asOf: $v, limit: $n, tenantId: $t, projectId: $p, at: $at) {{
          asOf subject {{ entityId }} facts {{ {REPORTED} }} counts {{ {COUNTS} }} topics links {{ from to factId }}
          truncated }}"""
        at, limit = more.pop("at", None), more.pop("limit", 100)
        given = asked_about(subject, as_of, limit, more)
        assert not more, more
        shown = await self._found(call, ABOUT, **given, at=at_in(at))
        facts = await self._facts([one["fact"] for one in shown["facts"]], at)
        return reports.Report(
            subject=(await self._rows(ENTITIES, [shown["subject"]["entityId"]], at))[0],
            as_of=instant_of(shown["asOf"]),
            facts=[reported_in(one, fact) for one, fact in zip(shown["facts"], facts, strict=True)],
            counts=shown["counts"],
            topics=shown["topics"],
            links=[
                reports.TopicLink(link["from"], link["to"], link["factId"].removeprefix("fact/"))
                for link in shown["links"]
            ],
            truncated=shown["truncated"],
        )

    async def why(self, fact_id: str, at: At | None = None) -> reports.Why:
        call = f"""whyFact(factId: $id, at: $at) {{ fact {{ ...F }} notes {{ noteId }} invalidationReason
          replaced {STEP} replacedBy {STEP} events {{ seq }} }}"""
        shown = await self._found(call, "id: ID!, at: At", id=fact_id, at=at_in(at))
        async with self.known(at) as session:
            ended = await session.find(INVALIDATIONS, fact_id)
        assert shown["invalidationReason"] == (None if ended is None else ended.reason)
        return reports.Why(
            fact=(await self._facts([shown["fact"]], at))[0],
            notes=await self._rows(NOTES, (note["noteId"] for note in shown["notes"]), at),
            replaced=await self._chain(shown["replaced"], at),
            replaced_by=await self._chain(shown["replacedBy"], at),
            invalidation=ended,
            events=await self._events(shown["events"]),
        )

    async def _chain(self, steps: Sequence[dict[str, Any]], at: At | None) -> list[tuple[Supersession, Fact]]:
        links = await self._rows(SUPERSESSIONS, (step["supersession"]["supersessionId"] for step in steps), at)
        return list(zip(links, await self._facts([step["fact"] for step in steps], at), strict=True))

    async def relation_context(
        self,
        note_ids: Sequence[str],
        as_of: Moment | None = None,
        facts: int = 16,
        evidence: int = 16,
        at: At | None = None,
    ) -> dict[str, list[reports.ContextRow]]:
        """A note that is read now has its context now."""
        assert as_of is None and at is None
        call = """nodes(ids: $ids) { ... on Note { noteId
          context(facts: $facts, evidence: $notes) { state noteIds fact { ...F } } } }"""
        given = {"ids": [f"note/{id}" for id in note_ids], "facts": facts, "notes": evidence}
        shown = await self._found(call, "ids: [ID!]!, facts: Int!, notes: Int!", **given)
        found: dict[str, list[reports.ContextRow]] = {id: [] for id in note_ids}
        for note in filter(None, shown):
            rows = await self._facts([one["fact"] for one in note["context"]])
            told = [(one["state"].lower(), one["noteIds"]) for one in note["context"]]
            found[note["noteId"]] = [(fact, *rest) for fact, rest in zip(rows, told, strict=True)]
        return found

    async def neighbourhood(
        self, entity_id: str, valid_at: Moment | None = None, depth: int = 1, at: At | None = None
    ) -> list[Reached]:
        call = (
            "entityNeighborhood(entityId: $id, depth: $n, asOf: $v, at: $at) { depth entity { entityId } via { ...F } }"
        )
        kinds = "id: ID!, n: Int!, v: DateTime, at: At"
        shown = await self._found(call, kinds, id=entity_id, n=depth, v=moment(valid_at, "asOf"), at=at_in(at))
        entities = await self._rows(ENTITIES, (step["entity"]["entityId"] for step in shown), at)
        facts = iter(await self._facts([step["via"] for step in shown if step["via"]], at))
        return [
            Reached(entity, step["depth"], next(facts) if step["via"] else None)
            for entity, step in zip(entities, shown, strict=True)
        ]


ABOUT = "s: EntityRef!, in: [String!], v: DateTime, n: Int!, t: String, p: String, at: At"
"""What answers and reports are asked with."""


def asked_about(
    subject: str | EntityRef | Entity, as_of: Moment | None, limit: int, more: dict[str, Any]
) -> dict[str, Any]:
    return {
        "s": entity_in(subject),
        "in": more.pop("scopes", None),
        "v": moment(as_of, "asOf"),
        "n": limit,
        "t": more.pop("tenant", None),
        "p": more.pop("project", None),
    }


def reported_in(shown: dict[str, Any], fact: Fact) -> reports.Reported:
    """A fact of a report; a note that is not for the reader is none."""
    told = shown["fact"]
    return reports.Reported(
        fact=fact,
        state=shown["state"].lower(),
        markers=shown["markers"],
        evidence=[one["note"]["noteId"] for one in told["evidence"] if one["note"]],
        superseded_by=[link["toFact"]["factId"] for link in told["supersededBy"]],
        supersedes=[link["fromFact"]["factId"] for link in told["supersedes"]],
    )
