"""Tasks: work that is started, may be blocked, and is completed while it is in progress."""

from __future__ import annotations

from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.runtime.message_context import MessageContext
from ugs.actors.types.standard_messages import Actor
from ugs.actors.types.task_relations import (
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
from ugs.clock import iso

STARTABLE_STATES = (CREATED, READY, BLOCKED)
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

    def state_of(self, context: MessageContext) -> str:
        return context.state or CREATED

    async def metadata(self, context: MessageContext) -> dict[str, Any]:
        family = await self._family(context)
        return {"progress": family.progress(context.id), "childCount": len(family.children)}

    async def _family(self, context: MessageContext) -> Family:
        family = await family_of(context)
        return family if context.id in family.nodes else Family(context.id, {}, {context.id: context.node})

    @handles("start", StartPayload)
    async def start(self, context: MessageContext, payload: StartPayload) -> Answer:
        state = self.state_of(context)
        if state not in STARTABLE_STATES:
            raise Refused(f"Task {context.id} cannot start: it is {state}", state=state)
        waits = await waiting_for(context)
        if waits:
            raise Refused(f"Task {context.id} waits for: {', '.join(waits)}", state=state, blockedBy=list(waits))
        context.update(state=IN_PROGRESS, startedAt=iso(context.now))
        context.remove("blockReason")
        if payload.context is not None:
            context.update(context=payload.context)
        return {"state": IN_PROGRESS}

    @handles("create_task", CreateTaskPayload)
    async def create_task(self, context: MessageContext, payload: CreateTaskPayload) -> Answer:
        inherited = {key: context.properties[key] for key in ("toolsAvailable",) if key in context.properties}
        child = context.create(
            "task",
            {
                "goal": payload.goal,
                "state": CREATED,
                "deliverables": payload.deliverables,
                "criteria": payload.criteria,
                "parentTaskId": context.id,
                **inherited,
            },
        )
        context.link(context.id, SPAWNED_BY, source=child)
        return {"taskId": child, "childTaskId": child}

    @handles("eval")
    async def eval(self, context: MessageContext, payload: object) -> Answer:
        return await self._evaluation(context)

    async def _evaluation(self, context: MessageContext) -> Answer:
        """How far the success criteria are met; passed only when all are, and all children are complete."""
        criteria = context.properties.get("criteria")
        results = [evaluate_criterion(criterion) for criterion in (criteria if isinstance(criteria, list) else [])]
        met = sum(result["passed"] for result in results)
        children = (await self._family(context)).children
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
    async def complete(self, context: MessageContext, payload: CompletePayload) -> Answer:
        state = self.state_of(context)
        if state in CLOSED:
            raise Refused(f"Task {context.id} is already {state}", finalState=state)
        waits = list(await waiting_for(context))
        if state != IN_PROGRESS or waits:
            why = [f"it is {state}"] if state != IN_PROGRESS else []
            why += [f"waits for: {', '.join(waits)}"] if waits else []
            raise Refused(
                f"Task {context.id} cannot be completed: {' and '.join(why)}", finalState=state, blockedBy=waits
            )
        evaluation = await self._evaluation(context)
        context.update(state=COMPLETED, completedAt=iso(context.now), result=payload.result)
        context.remove("blockReason")
        for artifact in dict.fromkeys(payload.artifacts):
            context.link(artifact, PRODUCES)
        # Unmet criteria and open children are reported, but do not prevent completion (D-6).
        return {"finalState": COMPLETED, **({} if evaluation["passed"] else {"evaluation": evaluation})}

    @handles("block", BlockPayload)
    async def block(self, context: MessageContext, payload: BlockPayload) -> Answer:
        state = self.state_of(context)
        if state in CLOSED:
            raise Refused(f"Task {context.id} cannot be blocked: it is {state}", state=state)
        needed = payload.required_knowledge
        gaps = context.properties.get("informationGaps")
        gaps = [*gaps] if isinstance(gaps, list) else []
        gaps += [item for item in ([needed] if isinstance(needed, str) else needed or []) if item not in gaps]
        context.update(state=BLOCKED, blockReason=payload.reason)
        if gaps:
            context.update(informationGaps=gaps)
        return {"state": BLOCKED}

    @handles("query_status")
    async def query_status(self, context: MessageContext, payload: object) -> Answer:
        family = await self._family(context)
        waits = await waiting_for(context)
        state = self.state_of(context)
        reason = context.properties.get("blockReason") if state == BLOCKED else None
        return {
            "state": state,
            "progress": family.progress(context.id),
            "reason": reason,
            "blockedBy": list(waits),
            "blockers": [*([reason] if reason else []), *(f"Waiting on: {goal_of(id, n)}" for id, n in waits.items())],
            "childrenStatus": [
                {"id": child.id, "state": task_state(child), "progress": family.progress(child.id)}
                for child in family.children
            ],
        }


def evaluate_criterion(criterion: Any) -> dict[str, Any]:
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
