"""Changing facts as in the Python API, through GraphQL over HTTP: what is changed and refused is GraphQL's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.conformance_over_graphql.facts_queries import FACT, DoorAsking, entity_in, moment
from tests.conformance_over_graphql.graph import some
from ugs.events import Event
from ugs.facts.api import FactResult, Ingested, PredicateResult, refs
from ugs.facts.commands.ingestion import NoteToIngest
from ugs.facts.model import ENTITIES, NOTES, PREDICATES, Entity, Fact, Note
from ugs.facts.note_json import input_of
from ugs.facts.reader import SHARED, Moment
from ugs.facts.resolution import EntityRef
from ugs.feature import CommandWarning
from ugs.identity import LOCAL, login_name
from ugs.log.idempotency import retry_key
from ugs.storage import EventQuery, Session
from ugs.writer import Outcome

WARNINGS = "warnings { code message id }"


def warned(shown: Sequence[dict[str, Any]]) -> list[CommandWarning]:
    return [CommandWarning(told["code"], told["message"], told["id"]) for told in shown]


class DoorFacts(DoorAsking):
    """Every operation that GraphQL has goes through it."""

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
        who = self.principal
        if who != LOCAL.principal:
            who = replace(who, user=login_name(who.user))
        first = next((e for e in events if e.idem is not None and e.idem.key == retry_key(who, key)), None)
        batch = first.tx.id if first is not None and first.tx is not None else None
        return [e for e in events if e is first or (e.tx is not None and e.tx.id == batch)]

    # ── entities ─────────────────────────────────────────────────────────────

    async def upsert_entity_with_status(
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
        self,
        predicate_id: str | None = None,
        *,
        name: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
        **changes: Any,
    ) -> PredicateResult:
        words = ("status", "cardinality", "expected_status", "expected_cardinality")
        keep = changes.pop("keep_latest", False)
        said = {camel(word): value.upper() if word in words and value else value for word, value in changes.items()}
        input = {
            "id": predicate_id,
            "predicate": name,
            "tenantId": tenant,
            "projectId": project,
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
        skip_known: bool = False,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Ingested:
        input = {
            "scope": scope,
            "notes": [input_of(note) for note in notes],
            "requireSupport": supported,
            "skipKnown": skip_known,
            "tenantId": tenant,
            "projectId": project,
            "agentId": agent,
            "idempotencyKey": key,
        }
        shape = f"{{ created notes {{ noteId }} facts {{ ...F }} events {{ seq }} {WARNINGS} }}"
        done, _ = await self._change("ingest", shape, "input: IngestInput!", input=input)
        kept = await self._rows(NOTES, (note["noteId"] for note in done["notes"]))
        facts = await self._facts(done["facts"])
        events = await self._events(done["events"])
        return Ingested(kept, facts, done["created"], events, warned(done["warnings"]))


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)
