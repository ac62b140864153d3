"""Tasks: work that is started, may be blocked, and is complete when its criteria and its children say so."""

from __future__ import annotations

from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.families import (
    BLOCKED,
    COMPLETED,
    CREATED,
    FAILED,
    IN_PROGRESS,
    PRODUCES,
    READY,
    SPAWNED_BY,
    Family,
    family_of,
    goal_of,
    task_state,
    waiting_for,
)
from ugs.actors.standard import Actor
from ugs.actors.turn import Turn
from ugs.ontology.api import iso

STARTS_FROM = (CREATED, READY, BLOCKED)
CLOSED = (COMPLETED, FAILED)


class StartPayload(Payload, frozen=True):
    context: dict[str, Any] | None = None


class CreateTaskPayload(Payload, frozen=True):
    goal: str
    deliverables: list[Any] = []
    criteria: list[Any] = []


class CompletePayload(Payload, frozen=True):
    result: Any = None
    artifacts: list[str] = []


class BlockPayload(Payload, frozen=True):
    reason: str
    required_knowledge: list[Any] | str | None = None


class Task(Actor):
    """A unit of work: goal, state, deliverables, criteria."""

    def state_of(self, turn: Turn) -> str:
        return turn.state or CREATED

    async def metadata(self, turn: Turn) -> dict[str, Any]:
        family = await self._family(turn)
        return {"progress": family.progress(turn.id), "childCount": len(family.children)}

    async def _family(self, turn: Turn) -> Family:
        family = await family_of(turn)
        return family if turn.id in family.nodes else Family(turn.id, {}, {turn.id: turn.node})

    @handles("start", StartPayload)
    async def start(self, turn: Turn, payload: StartPayload) -> Answer:
        state = self.state_of(turn)
        if state not in STARTS_FROM:
            raise Refused(f"Task {turn.id} cannot start: it is {state}", state=state)
        waits = await waiting_for(turn)
        if waits:
            raise Refused(f"Task {turn.id} waits for: {', '.join(waits)}", state=state, blockedBy=list(waits))
        turn.update(state=IN_PROGRESS, startedAt=iso(turn.now))
        turn.remove("blockReason")
        if payload.context is not None:
            turn.update(context=payload.context)
        return {"state": IN_PROGRESS}

    @handles("create_task", CreateTaskPayload)
    async def create_task(self, turn: Turn, payload: CreateTaskPayload) -> Answer:
        inherited = {key: turn.properties[key] for key in ("toolsAvailable",) if key in turn.properties}
        child = turn.create(
            "task",
            {
                "goal": payload.goal,
                "state": CREATED,
                "deliverables": payload.deliverables,
                "criteria": payload.criteria,
                "parentTaskId": turn.id,
                **inherited,
            },
        )
        turn.link(turn.id, SPAWNED_BY, source=child)
        return {"taskId": child, "childTaskId": child}

    @handles("eval")
    async def eval(self, turn: Turn, payload: object) -> Answer:
        return await self._evaluation(turn)

    async def _evaluation(self, turn: Turn) -> Answer:
        """How far the success criteria are met; passed only when all are, and all children are complete."""
        criteria = turn.properties.get("criteria")
        results = [judged(criterion) for criterion in (criteria if isinstance(criteria, list) else [])]
        met = sum(result["passed"] for result in results)
        children = (await self._family(turn)).children
        done = sum(task_state(child) == COMPLETED for child in children)
        return {
            "passed": met == len(results) and done == len(children),
            "score": met / len(results) if results else 1,
            "results": results,
            "observations": [
                f"{met} of {len(results)} criteria met",
                f"{done} of {len(children)} child tasks completed",
            ],
        }

    @handles("complete", CompletePayload)
    async def complete(self, turn: Turn, payload: CompletePayload) -> Answer:
        state = self.state_of(turn)
        if state in CLOSED:
            raise Refused(f"Task {turn.id} is already {state}", finalState=state)
        evaluation = await self._evaluation(turn)
        if not evaluation["passed"]:
            told = ", ".join(evaluation["observations"])
            raise Refused(f"Task {turn.id} is not complete: {told}", finalState=state, evaluation=evaluation)
        turn.update(state=COMPLETED, completedAt=iso(turn.now), result=payload.result)
        turn.remove("blockReason")
        for artifact in dict.fromkeys(payload.artifacts):
            turn.link(artifact, PRODUCES)
        return {"finalState": COMPLETED}

    @handles("block", BlockPayload)
    async def block(self, turn: Turn, payload: BlockPayload) -> Answer:
        state = self.state_of(turn)
        if state in CLOSED:
            raise Refused(f"Task {turn.id} cannot be blocked: it is {state}", state=state)
        needed = payload.required_knowledge
        gaps = turn.properties.get("informationGaps")
        gaps = [*gaps] if isinstance(gaps, list) else []
        gaps += [item for item in ([needed] if isinstance(needed, str) else needed or []) if item not in gaps]
        turn.update(state=BLOCKED, blockReason=payload.reason)
        if gaps:
            turn.update(informationGaps=gaps)
        return {"state": BLOCKED}

    @handles("query_status")
    async def query_status(self, turn: Turn, payload: object) -> Answer:
        family = await self._family(turn)
        waits = await waiting_for(turn)
        state = self.state_of(turn)
        reason = turn.properties.get("blockReason") if state == BLOCKED else None
        return {
            "state": state,
            "progress": family.progress(turn.id),
            "reason": reason,
            "blockedBy": list(waits),
            "blockers": [*([reason] if reason else []), *(f"Waiting on: {goal_of(id, n)}" for id, n in waits.items())],
            "childrenStatus": [
                {"id": child.id, "state": task_state(child), "progress": family.progress(child.id)}
                for child in family.children
            ],
        }


def judged(criterion: Any) -> dict[str, Any]:
    """Whether one criterion is met: a boolean must equal its threshold, a number must reach it."""
    if not isinstance(criterion, dict):
        criterion = {"criterion": criterion}
    threshold, actual = criterion.get("threshold", True), criterion.get("actual")
    passed = meets(actual, threshold)
    if actual is None:
        detail = "not measured yet"
    else:
        detail = f"{actual!r} {'meets' if passed else 'does not meet'} {threshold!r}"
    return {"criterion": criterion.get("criterion"), "passed": passed, "detail": detail}


def meets(actual: Any, threshold: Any) -> bool:
    """Booleans and numbers are different things, as in JSON."""
    if isinstance(actual, bool) or isinstance(threshold, bool):
        return actual is threshold
    return isinstance(actual, int | float) and isinstance(threshold, int | float) and actual >= threshold
