"""The single writer: commands that wait together are decided in turn and committed at once.

One commit for a whole group is what makes durable writes fast. A refused command writes nothing and hurts nobody
else. When a store fails on a group, its commands are tried one by one; when a connection breaks in the middle of a
commit, the log itself is asked whether it happened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from ugs.catalog import Catalog, Row
from ugs.changes import NewElements
from ugs.clock import Clock
from ugs.desk import Changes, Desk
from ugs.errors import (
    Conflict,
    IdempotencyConflict,
    InvalidJSON,
    InvalidSyntax,
    OutcomeUnknown,
    UgsError,
    Unavailable,
    UniqueViolation,
)
from ugs.events import Event, Idem
from ugs.feature import Command, Decider, Decision, Warned
from ugs.identity import LOCAL, Context
from ugs.retries import RETRIES, retry_key
from ugs.storage import EventQuery, Session, Storage
from ugs.values import check_value, from_text, is_plain, to_text

log = logging.getLogger(__name__)

MAX_GROUP = 512
MANY = 8
"""From so many commands on it pays to look at all of them together."""
MAX_KEY = 200
RETRY_PAUSES = (0.02, 0.1, 0.4)
ROUNDS = 3
"""So often those who came meanwhile join a group before it is committed: reading for the first takes a while."""
LOOKS = 2
"""Turns of the event loop in which those whose requests have arrived get to the door: one to be read, one to ask.
Whoever just misses a commit waits for two."""
RESOLVE_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)


class Outcome(Struct, frozen=True):
    """What a command did: its events, what to tell about it, and whether it had been done before."""

    events: list[Event]
    warnings: list[Warned] = []
    repeated: bool = False
    rows: Changes = {}
    """The rows it touched, as it left them; empty when it had been done before."""


Tell = Callable[[Outcome], Any]
"""What an asker makes of the outcome. It may be called before that is durable, and again for another one, so it only
looks and writes; what it makes is given out when the outcome is durable."""


class Job(Struct):
    """A command on its way."""

    command: Command
    context: Context
    done: asyncio.Future[Any]
    tell: Tell | None = None
    foretold: tuple[Outcome, Any] | None = None
    """An outcome, and what the asker makes of it."""


class Writer:
    """Takes commands, answers with outcomes."""

    def __init__(
        self,
        storage: Storage,
        catalog: Catalog,
        clock: Clock,
        deciders: Mapping[type[Command], Decider],
        prepare: Callable[[Desk, Sequence[Command]], Awaitable[None]],
        decided_at_once: Callable[[Command, Desk], bool],
        decided_together: Callable[[Sequence[Command], Desk], NewElements | None],
        review: Callable[[Desk, Sequence[Event]], Awaitable[list[Warned]]],
        publish: Callable[[Sequence[Event]], None],
    ) -> None:
        self._storage, self._catalog, self._clock = storage, catalog, clock
        self._deciders, self._prepare, self._review, self._publish = deciders, prepare, review, publish
        self._decided_at_once, self._decided_together = decided_at_once, decided_together
        self._waiting: list[Job] = []
        self._task: asyncio.Task[None] | None = None
        self.busy = False
        self._expected = 0
        """So many are likely to come: those who were just answered are back at once, and without them two halves would
        take turns for ever."""

    def execute(self, command: Command, context: Context, tell: Tell | None = None) -> asyncio.Future[Any]:
        """Do the command, or refuse it with a coded error: its outcome, or what is told of it, can be waited for."""
        job = Job(command, context, asyncio.get_running_loop().create_future(), tell)
        self._waiting.append(job)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return job.done

    async def close(self) -> None:
        """Finish what is under way."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        self.busy = True
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
                await self._do(group)
                self._expected = len(group) + len(self._waiting)
        finally:
            self.busy = False

    async def _do(self, group: list[Job]) -> None:
        try:
            await self._commit_with_retries(group)
        except (UniqueViolation, Conflict) as error:
            await self._one_by_one(group, error)
        except BaseException as error:
            for job in group:
                _fail(job, error)
            if not isinstance(error, Exception):
                raise

    async def _one_by_one(self, group: list[Job], error: UgsError) -> None:
        if len(group) == 1:
            _fail(group[0], error)
            return
        for job in group:
            await self._do([job])

    async def _commit_with_retries(self, group: list[Job]) -> None:
        for pause in RETRY_PAUSES:
            try:
                return await self._commit(group)
            except (Conflict, Unavailable) as error:
                # Nothing was stored, so the same group may simply be tried again.
                await asyncio.sleep(0 if isinstance(error, Conflict) and error.at_once else pause)
        await self._commit(group)

    async def _commit(self, group: list[Job]) -> None:
        """Decide and store a group. Answers, refusals too, go out only when what they rest on is durable."""
        answers: list[tuple[Job, Outcome | Exception]] = []
        events: list[Event] = []
        try:
            async with self._storage.deciding() as session:
                desk = Desk(session, self._catalog, await session.head(), self._clock.now())
                answers = await self._decide_all(group, desk)
                events = desk.events
                if events:
                    await session.append(events, desk.writes())
                # While the store is busy with it, there is time to write the answers.
                asyncio.get_running_loop().call_soon(_foretell, answers)
        except OutcomeUnknown as error:
            if not events or not await self._happened(events, error):
                raise Unavailable(str(error)) from error
        self._publish(events)
        for job, answer in answers:
            _answer(job, answer)

    async def _decide_all(self, group: list[Job], desk: Desk) -> list[tuple[Job, Outcome | Exception]]:
        """Decide the group and those who join it meanwhile."""
        answers: list[tuple[Job, Outcome | Exception]] = []
        for _ in range(ROUNDS):
            await self._join(group)
            some = group[len(answers) :]
            if not some:
                break
            answers += await self._decide_some(some, desk)
        return answers

    async def _decide_some(self, jobs: list[Job], desk: Desk) -> list[tuple[Job, Outcome | Exception]]:
        await desk.prefetch_unlikely({RETRIES: [key for job in jobs if (key := _key_of(job)) is not None]})
        await self._prepare(desk, [job.command for job in jobs])
        return self._decide_together(jobs, desk) or [(job, await self._decide(job, desk)) for job in jobs]

    async def _join(self, group: list[Job]) -> None:
        """Take those who have come meanwhile into the group, as long as it is not too large."""
        if len(group) < self._expected:
            await _looks()
        room = MAX_GROUP - len(group)
        some, self._waiting = self._waiting[:room], self._waiting[room:]
        group += some

    def _decide_together(self, jobs: list[Job], desk: Desk) -> list[tuple[Job, Outcome | Exception]] | None:
        """Decide many plain commands at once; None, and nothing has happened, where each takes its own way."""
        if len(jobs) < MANY or any(job.context.idempotency_key is not None for job in jobs):
            return None
        try:
            new = self._decided_together([job.command for job in jobs], desk)
        except Exception:
            # A bug must not take them all down: each meets it by itself, or not at all. Nobody else would hear of it.
            log.exception("commands could not be looked at together, and are decided one by one")
            return None
        if new is None:
            return None
        closed = desk.record_each(new, [author(job.context) for job in jobs])
        return [(job, Outcome(events, rows=rows)) for job, (events, rows) in zip(jobs, closed, strict=True)]

    def _decide_at_once(self, job: Job, desk: Desk) -> Outcome | None:
        """Decide a plain command without a pause; None, and nothing has happened, where it takes the usual way."""
        if job.context.idempotency_key is not None or not self._decided_at_once(job.command, desk):
            return None
        rows = desk.changed_rows()
        return Outcome(desk.close_at_once(author(job.context)), rows=rows)

    async def _decide(self, job: Job, desk: Desk) -> Outcome | Exception:
        """Decide one command; a refusal leaves no trace on the desk."""
        try:
            return self._decide_at_once(job, desk) or await self._decide_once(job, desk)
        except (Unavailable, OutcomeUnknown, Conflict):
            raise
        except Exception as error:
            # Also a bug in one decision must not take its neighbours down; it stays visible to its own caller.
            desk.undo_command()
            return error

    async def _decide_once(self, job: Job, desk: Desk) -> Outcome:
        idem = idem_for(job.command, job.context)
        if idem is not None:
            before = await desk.find(RETRIES, idem.key)
            if before is not None:
                return await _repeat(before, idem, desk)
        decider = self._deciders.get(type(job.command))
        if decider is None:
            raise InvalidSyntax(f"no feature knows the command {type(job.command).__name__}")
        decision: Decision = await decider(job.command, desk)
        await desk.stage(decision.drafts)
        told = await self._review(desk, desk.open_events)
        if told:
            decision = Decision(decision.drafts, [*decision.warnings, *told])
        return await self._close(desk, decision, idem, job.context)

    async def _close(self, desk: Desk, decision: Decision, idem: Idem | None, context: Context) -> Outcome:
        if idem is not None and desk.open_count:
            told = tuple(msgspec.to_builtins(warning) for warning in decision.warnings)
            idem = msgspec.structs.replace(idem, size=desk.open_count, warnings=told)
        rows = desk.changed_rows()
        return Outcome(await desk.close_command(author(context), idem), decision.warnings, rows=rows)

    async def _happened(self, events: list[Event], error: OutcomeUnknown) -> bool:
        """Ask the log whether a commit that lost its connection took place.

        The server may still be busy with that commit. Asking in the place of the one writer waits until it is over,
        so that a "no" stays true.
        """
        for pause in RESOLVE_PAUSES:
            await asyncio.sleep(pause)
            try:
                async with self._storage.session(write=True) as session:
                    found = await session.events(EventQuery(after=events[0].position - 1, limit=1))
            except (Unavailable, Conflict, OutcomeUnknown):
                continue
            return bool(found) and found[0] == events[0]
        raise error


async def _looks() -> None:
    """Let answers go out and requests come in."""
    for _ in range(LOOKS):
        await asyncio.sleep(0)


def author(context: Context) -> str | None:
    """Who an event names as its author; the local user goes without saying."""
    user = context.principal.user
    return None if user == LOCAL.principal.user else user


def _key_of(job: Job) -> str | None:
    """Under which a retry of the command would be known, if it may have one; what is wrong is told in its turn."""
    key = job.context.idempotency_key
    return retry_key(job.context.principal.user, key) if key and is_plain(key, 1) else None


def _foretell(answers: Sequence[tuple[Job, Outcome | Exception]]) -> None:
    for job, answer in answers:
        if job.tell is not None and not job.done.done() and isinstance(answer, Outcome):
            job.foretold = (answer, _told(job.tell, answer))


def _told(tell: Tell, outcome: Outcome) -> Any:
    try:
        return tell(outcome)
    except Exception as error:
        return error


def _answer(job: Job, answer: Outcome | Exception) -> None:
    made: Any = answer
    if job.tell is not None and isinstance(answer, Outcome) and not job.done.done():
        foretold = job.foretold
        # What was told of an earlier attempt is worth nothing.
        made = foretold[1] if foretold is not None and foretold[0] is answer else _told(job.tell, answer)
    if isinstance(made, Exception):
        _fail(job, made)
    elif not job.done.done():
        job.done.set_result(made)


def _fail(job: Job, error: BaseException) -> None:
    if not job.done.done():
        job.done.set_exception(error)
        job.done.exception()  # a caller that went away must not turn this into a warning


def idem_for(command: Command, context: Context) -> Idem | None:
    """The key under which a retry is recognised, with a digest of what was asked."""
    key = context.idempotency_key
    if key is None:
        return None
    if not key or len(key) > MAX_KEY:
        raise InvalidSyntax(f"an idempotency key has between 1 and {MAX_KEY} characters")
    check_value(key, "idempotency key")
    try:
        asked = msgspec.to_builtins(command)
        body = to_text({name: value for name, value in asked.items() if name not in command.UNASKED})
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        # The decision would refuse it as well, in the same class, if it got that far.
        raise InvalidJSON(f"the request holds a value that is not JSON: {error}") from error
    return Idem(retry_key(context.principal.user, key), sha256(body.encode()).hexdigest())


async def _repeat(before: Row, idem: Idem, desk: Desk) -> Outcome:
    """The answer that was given the first time."""
    if before.hash != idem.hash:
        raise IdempotencyConflict(idem.key.partition("/")[2])
    wanted = range(before.position, before.position + before.size)
    events = [event for event in desk.events if event.position in wanted]
    if not events:
        events = await logged(desk.session, wanted)
    warnings = [msgspec.convert(item, Warned) for item in from_text(before.warnings)]
    return Outcome(events, warnings, repeated=True)


async def logged(session: Session, positions: range) -> list[Event]:
    return await session.events(EventQuery(after=positions.start - 1, until=positions.stop - 1))
