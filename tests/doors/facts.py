"""The facts of the Python API, through GraphQL over HTTP: what is asked, chosen, changed and refused is GraphQL's.

Answers come back as ids; the rows behind them are read from the store, and what GraphQL shows of a fact is compared
with its row on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from tests.doors.client import Door
from tests.doors.graph import at_in, some
from ugs.events import Event
from ugs.facts.api import FactResult, Facts, Ingested, PredicateResult, refs
from ugs.facts.asking import SHARED, Moment, ref
from ugs.facts.ingesting import NoteToIngest, Stated
from ugs.facts.instants import instant_of, instant_text
from ugs.facts.merging import MergePlan
from ugs.facts.model import ENTITIES, FACTS, NOTES, PREDICATES, Entity, Fact, Note, Predicate
from ugs.facts.resolving import EntityRef
from ugs.feature import Warned
from ugs.identity import LOCAL, Principal
from ugs.moments import At
from ugs.storage import EventQuery, Session
from ugs.system import System
from ugs.writer import Outcome

FACT = """fragment F on Fact { factId tenantId projectId agentId scope predicate objectValue validFrom validTo
  subject { entityId } objectEntity { entityId } }"""
WARNINGS = "warnings { code message id }"


def moment(given: Moment | None, what: str) -> str | None:
    return None if given is None else instant_text(instant_of(given, what))


def entity_in(given: str | EntityRef | Entity | None) -> dict[str, Any] | None:
    if given is None:
        return None
    meant = ref(given)
    return some({"id": meant.id, "name": meant.name, "kind": meant.kind}) or {}


def warned(shown: Sequence[dict[str, Any]]) -> list[Warned]:
    return [Warned(told["code"], told["message"], told["id"]) for told in shown]


def check_shown(shown: dict[str, Any], row: Fact) -> None:
    """What GraphQL shows is what is stored."""
    object = shown["objectEntity"] and shown["objectEntity"]["entityId"]
    assert (shown["subject"]["entityId"], object) == (row.subject_entity_id, row.object_entity_id)
    assert (shown["predicate"], shown["objectValue"]) == (row.predicate, row.object_value)
    assert (shown["tenantId"], shown["projectId"]) == (row.tenant_id, row.project_id)
    assert (shown["agentId"], shown["scope"]) == (row.agent_id, row.scope)
    ends = instant_of(shown["validFrom"]), None if shown["validTo"] is None else instant_of(shown["validTo"])
    assert ends == (row.valid_from, row.valid_to)


class DoorFacts(Facts):
    """Every operation that GraphQL has goes through it."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        super().__init__(system, principal)
        self.door = Door(system, principal)

    async def _rows(self, table: Any, ids: Iterable[str], at: At | None = None) -> list[Any]:
        wanted = list(ids)
        async with self.known(at) as session:
            found = await session.find_many(table, sorted(set(wanted))) if wanted else []
        by_id = {getattr(row, table.key[0]): row for row in found}
        return [by_id[id] for id in wanted]

    async def _facts(self, shown: Sequence[dict[str, Any]], at: At | None = None) -> list[Fact]:
        rows: list[Fact] = await self._rows(FACTS, (one["factId"] for one in shown), at)
        for one, row in zip(shown, rows, strict=True):
            check_shown(one, row)
        return rows

    async def _change(self, name: str, shape: str, kinds: str, **given: Any) -> tuple[Any, list[Event]]:
        """Run a mutation; its answer, and the events it added."""
        async with self.system.session() as session:
            before = (await session.head()).position
        types = dict(part.split(": ") for part in kinds.split(", "))
        declared = ", ".join(f"${name}: {kind}" for name, kind in types.items())
        passed = ", ".join(f"{name}: ${name}" for name in types)
        fragments = FACT if "...F" in shape else ""
        document = f"mutation({declared}) {{ done: {name}({passed}) {shape} }} {fragments}"
        done = (await self.door.ask(document, **given))["done"]
        async with self.system.session() as session:
            return done, await session.events(EventQuery(after=before)) or await self._first_answer(session, given)

    async def _first_answer(self, session: Session, given: dict[str, Any]) -> list[Event]:
        """The events of a request that was repeated under its key."""
        key = given.get("idempotencyKey") or given.get("input", {}).get("idempotencyKey")
        if key is None:
            return []
        events = await session.events(EventQuery())
        first = next((e for e in events if e.idem is not None and e.idem.key == f"{self.principal.user}/{key}"), None)
        batch = first.tx.id if first is not None and first.tx is not None else None
        return [e for e in events if e is first or (e.tx is not None and e.tx.id == batch)]

    # ── entities ─────────────────────────────────────────────────────────────

    async def upsert_told(
        self,
        name: str,
        kind: str | None = None,
        aliases: Sequence[str] = (),
        node_id: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
    ) -> tuple[Entity, bool]:
        asked = {"name": name, "kind": kind, "aliases": list(aliases), "nodeId": node_id, "tenantId": tenant}
        input = {**asked, "projectId": project, "idempotencyKey": key}
        shape = "{ created entity { entityId } }"
        done, _ = await self._change("upsertEntity", shape, "input: UpsertEntityInput!", input=input)
        return (await self._rows(ENTITIES, [done["entity"]["entityId"]]))[0], done["created"]

    async def add_entity_alias(self, entity_id: str, alias: str, key: str | None = None) -> Entity:
        kinds = "entityId: ID!, alias: String!, idempotencyKey: String"
        given = {"entityId": entity_id, "alias": alias, "idempotencyKey": key}
        done, _ = await self._change("addEntityAlias", "{ entity { entityId } }", kinds, **given)
        found: Entity = (await self._rows(ENTITIES, [done["entity"]["entityId"]]))[0]
        return found

    async def delete_entity(self, entity_id: str, force: bool = False, key: str | None = None) -> Outcome:
        kinds = "entityId: ID!, force: Boolean!, idempotencyKey: String"
        return await self._outcome("deleteEntity", kinds, entityId=entity_id, force=force, idempotencyKey=key)

    async def merge_entities(self, keep_id: str, merge_id: str, key: str | None = None) -> Outcome:
        kinds = "keepId: ID!, mergeId: ID!, idempotencyKey: String"
        given = {"keepId": keep_id, "mergeId": merge_id, "idempotencyKey": key}
        return await self._outcome("mergeEntities", kinds, "{ mergedId }", **given)

    async def _outcome(self, name: str, kinds: str, shape: str = "", **given: Any) -> Outcome:
        _, events = await self._change(name, shape, kinds, **given)
        return Outcome(events, [], False, {})

    # ── predicates ───────────────────────────────────────────────────────────

    async def register_predicate(
        self,
        alias: str,
        level: str = "tenant_project",
        status: str = "pending",
        cardinality: str = "multi",
        *,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
    ) -> PredicateResult:
        input = {
            "alias": alias,
            "level": level.upper(),
            "status": status.upper(),
            "cardinality": cardinality.upper(),
            "tenantId": tenant,
            "projectId": project,
            "idempotencyKey": key,
        }
        return await self._predicate("registerPredicate", "input: RegisterPredicateInput!", input)

    async def configure_predicate(
        self, predicate_id: str, *, key: str | None = None, **changes: Any
    ) -> PredicateResult:
        words = ("status", "cardinality", "expected_status", "expected_cardinality")
        keep = changes.pop("keep_latest", False)
        said = {camel(name): value.upper() if name in words and value else value for name, value in changes.items()}
        input = {
            "id": predicate_id,
            **said,
            "idempotencyKey": key,
            "resolveConflicts": "KEEP_LATEST" if keep else "NONE",
        }
        return await self._predicate("configurePredicate", "input: ConfigurePredicateInput!", input)

    async def _predicate(self, name: str, kinds: str, input: dict[str, Any]) -> PredicateResult:
        shape = "{ created predicate { predicateId } conflicts { ...F } }"
        done, _ = await self._change(name, shape, kinds, input=input)
        row = (await self._rows(PREDICATES, [done["predicate"]["predicateId"]]))[0]
        return PredicateResult(row, done["created"], await self._facts(done["conflicts"]))

    async def delete_predicate(self, predicate_id: str, key: str | None = None) -> Outcome:
        kinds = "id: ID!, idempotencyKey: String"
        return await self._outcome("deletePredicate", kinds, id=predicate_id, idempotencyKey=key)

    async def resolve_predicate(
        self, alias: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Predicate | None:
        document = """query($a: String!, $t: String, $p: String, $at: At) {
          found: resolvePredicate(alias: $a, tenantId: $t, projectId: $p, at: $at) { predicateId } }"""
        found = (await self.door.ask(document, a=alias, t=tenant, p=project, at=at_in(at)))["found"]
        return None if found is None else (await self._rows(PREDICATES, [found["predicateId"]], at))[0]

    async def predicates(
        self,
        status: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        at: At | None = None,
    ) -> list[Predicate]:
        document = """query($s: PredicateStatus, $t: String, $p: String, $at: At) {
          found: predicates(status: $s, tenantId: $t, projectId: $p, at: $at) { predicateId } }"""
        asked = {"s": status and status.upper(), "t": tenant, "p": project, "at": at_in(at)}
        found = (await self.door.ask(document, **asked))["found"]
        return await self._rows(PREDICATES, (one["predicateId"] for one in found), at)

    # ── notes ────────────────────────────────────────────────────────────────

    async def add_note(
        self,
        text: str,
        source: str | None = None,
        *,
        scope: str = SHARED,
        id: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Note:
        kinds = (
            "text: String!, source: String, scope: String, id: UUID, tenantId: String, projectId: String,"
            " agentId: String, idempotencyKey: String"
        )
        given = {"text": text, "source": source, "scope": scope, "id": id, "idempotencyKey": key}
        places = {"tenantId": tenant, "projectId": project, "agentId": agent}
        done, _ = await self._change("addNote", "{ note { noteId } }", kinds, **given, **places)
        found: Note = (await self._rows(NOTES, [done["note"]["noteId"]]))[0]
        return found

    async def delete_note(self, note_id: str, key: str | None = None) -> Outcome:
        return await self._outcome(
            "deleteNote", "noteId: ID!, idempotencyKey: String", noteId=note_id, idempotencyKey=key
        )

    # ── facts ────────────────────────────────────────────────────────────────

    async def add_fact(
        self, subject: str | EntityRef | Entity, predicate: str, value: str | None = None, **more: Any
    ) -> FactResult:
        if not more.pop("reuse", True):
            return await super().add_fact(subject, predicate, value, **more, reuse=False)
        notes = [some({"id": n.id, "text": n.text, "source": n.source}) or {} for n in refs(more.pop("notes", ()))]
        input = {
            "scope": more.pop("scope", SHARED),
            "subject": entity_in(subject),
            "predicate": predicate,
            "notes": notes,
            "objectEntity": entity_in(more.pop("object", None)),
            "objectValue": value,
            "validFrom": moment(more.pop("valid_from", None), "validFrom"),
            "validTo": moment(more.pop("valid_to", None), "validTo"),
            "tenantId": more.pop("tenant", None),
            "projectId": more.pop("project", None),
            "agentId": more.pop("agent", None),
            "idempotencyKey": more.pop("key", None),
        }
        assert not more, more
        shape = f"{{ created evidenceAdded fact {{ ...F }} superseded {{ ...F }} {WARNINGS} }}"
        done, events = await self._change("addFact", shape, "input: AddFactInput!", input=input)
        fact = (await self._facts([done["fact"]]))[0]
        superseded = await self._facts(done["superseded"])
        return FactResult(fact, done["created"], done["evidenceAdded"], superseded, warned(done["warnings"]), events)

    async def invalidate_fact(
        self, fact_id: str, valid_to: Moment | None = None, reason: str | None = None, key: str | None = None
    ) -> Fact:
        kinds = "factId: ID!, validTo: DateTime, reason: String, idempotencyKey: String"
        given = {"factId": fact_id, "validTo": moment(valid_to, "validTo"), "reason": reason, "idempotencyKey": key}
        done, _ = await self._change("invalidateFact", "{ fact { ...F } }", kinds, **given)
        return (await self._facts([done["fact"]]))[0]

    async def delete_fact(self, fact_id: str, key: str | None = None) -> Outcome:
        return await self._outcome(
            "deleteFact", "factId: ID!, idempotencyKey: String", factId=fact_id, idempotencyKey=key
        )

    async def ingest(
        self,
        *notes: NoteToIngest,
        scope: str = SHARED,
        supported: bool = True,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Ingested:
        input = {
            "scope": scope,
            "notes": [note_in(note) for note in notes],
            "requireSupport": supported,
            "tenantId": tenant,
            "projectId": project,
            "agentId": agent,
            "idempotencyKey": key,
        }
        shape = f"{{ created notes {{ noteId }} facts {{ ...F }} events {{ seq }} {WARNINGS} }}"
        done, _ = await self._change("ingest", shape, "input: IngestInput!", input=input)
        positions = [event["seq"] for event in done["events"]]
        async with self.system.session() as session:
            known = {event.position: event for event in await session.events(EventQuery())} if positions else {}
        kept = await self._rows(NOTES, (note["noteId"] for note in done["notes"]))
        facts = await self._facts(done["facts"])
        events = [known[position] for position in positions]
        return Ingested(kept, facts, done["created"], events, warned(done["warnings"]))

    # ── reading ──────────────────────────────────────────────────────────────

    async def entity(
        self, name: str, *, tenant: str | None = None, project: str | None = None, at: At | None = None
    ) -> Entity | None:
        document = """query($n: String!, $t: String, $p: String, $at: At) {
          found: entity(name: $n, tenantId: $t, projectId: $p, at: $at) { entityId } }"""
        found = (await self.door.ask(document, n=name, t=tenant, p=project, at=at_in(at)))["found"]
        return None if found is None else (await self._rows(ENTITIES, [found["entityId"]], at))[0]

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
        document = f"""query($s: EntityRef!, $in: String!, $v: DateTime, $t: String, $p: String, $at: At) {{
          found: activeFacts(subject: $s, scope: $in, asOf: $v, tenantId: $t, projectId: $p, at: $at) {{ ...F }}
        }} {FACT}"""
        asked = {"s": entity_in(subject), "in": scope, "v": moment(valid_at, "asOf"), "t": tenant, "p": project}
        return await self._facts((await self.door.ask(document, **asked, at=at_in(at)))["found"], at)

    async def timeline(self, subject: str | EntityRef | Entity, at: At | None = None, **more: Any) -> list[Fact]:
        document = f"""query($s: EntityRef!, $f: String, $t: String, $p: String, $at: At) {{
          found: factTimeline(subject: $s, predicate: $f, tenantId: $t, projectId: $p, at: $at) {{ ...F }} }} {FACT}"""
        asked = {"s": entity_in(subject), "f": more.pop("predicate", None), "t": more.pop("tenant", None)}
        asked["p"] = more.pop("project", None)
        assert not more, more
        return await self._facts((await self.door.ask(document, **asked, at=at_in(at)))["found"], at)

    async def preview_merge(self, keep_id: str, merge_id: str) -> MergePlan:
        document = (
            "query($a: ID!, $b: ID!) { found: mergePreview(keepId: $a, mergeId: $b) { aliases moved { factId } } }"
        )
        shown = (await self.door.ask(document, a=keep_id, b=merge_id))["found"]
        plan = await super().preview_merge(keep_id, merge_id)
        assert (shown["aliases"], [one["factId"] for one in shown["moved"]]) == (
            plan.aliases,
            [fact.fact_id for fact in plan.moved],
        )
        return replace(plan, aliases=shown["aliases"])


def note_in(note: NoteToIngest) -> dict[str, Any]:
    """A note to ingest, as GraphQL wants it."""
    entities = [{"canonical": one.canonical, "kind": one.kind, "aliases": list(one.aliases)} for one in note.entities]
    relations = [relation_in(one) for one in note.relations]
    structured = {"entities": entities, "relations": relations} if entities or relations else None
    asked = {"text": note.text, "source": note.source, "id": note.note_id, "quotes": list(note.quotes)}
    return {**asked, "structured": structured}


def relation_in(stated: Stated) -> dict[str, Any]:
    """A relation that a note states, as GraphQL wants it."""
    window = [None if end is None else instant_text(end) for end in (stated.valid_from, stated.valid_to)]
    object = {"entity": stated.object.entity, "value": stated.object.value}
    return {
        "subject": stated.subject,
        "predicate": stated.predicate,
        "object": object,
        "validFrom": window[0],
        "validTo": window[1],
    }


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)
