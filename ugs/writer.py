"""The single writer: group commit of pending commands.

Commands that are pending at the same time are decided one after another and stored with one commit, which is what makes
durable writes fast. A refused command writes nothing and does not affect the others of its group. When a store rejects
a group (`UniqueViolation`, `Conflict`), its commands are committed one by one; when the connection breaks during the
commit, the log is read to find out whether the commit took place.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from ugs.catalog import Catalog
from ugs.changes import NewElements
from ugs.clock import Clock
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
from ugs.feature import Command, CommandWarning, Decider, Decision
from ugs.identity import LOCAL, Context
from ugs.log.event_ids import CounterLead
from ugs.log.idempotency import RETRIES, retry_key
from ugs.storage import EventQuery, Session, Storage
from ugs.tables import Row
from ugs.unit_of_work import Changes, UnitOfWork
from ugs.values import check_value, from_text, is_plain, to_text

log = logging.getLogger(__name__)

MAX_GROUP = 512
BATCH_THRESHOLD = 8
"""Minimum number of commands for which the batch decision (`Feature.batch_deciders`) is tried."""
MAX_KEY = 200
RETRY_PAUSES = (0.02, 0.1, 0.4)
JOIN_ROUNDS = 3
"""Rounds in which commands that arrived during the prefetch and decision of a group join it before the commit."""
LOOP_TURNS = 2
"""Event-loop iterations granted to requests that have already arrived: one to read the socket, one to call `execute`.
A command that just misses a group waits for two commits."""
RESOLVE_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)


class Outcome(Struct, frozen=True):
    """The result of a command: its events, its warnings, and whether it is the repeated answer of an earlier try."""

    events: list[Event]
    warnings: list[CommandWarning] = []
    repeated: bool = False
    rows: Changes = {}
    """The changed rows after the command; empty for a repeated answer."""


class Job(Struct):
    """A pending command with the future that its caller awaits."""

    command: Command
    context: Context
    done: asyncio.Future[Outcome]


class Writer:
    """Collects commands into groups, decides and commits each group, and resolves the callers' futures."""

    def __init__(
        self,
        storage: Storage,
        catalog: Catalog,
        clock: Clock,
        deciders: Mapping[type[Command], Decider],
        prepare: Callable[[UnitOfWork, Sequence[Command]], Awaitable[None]],
        decide_fast: Callable[[Command, UnitOfWork], bool],
        decide_batch: Callable[[Sequence[Command], UnitOfWork], NewElements | None],
        review: Callable[[UnitOfWork, Sequence[Event]], Awaitable[list[CommandWarning]]],
        publish: Callable[[Sequence[Event]], None],
    ) -> None:
        self._storage, self._catalog, self._clock = storage, catalog, clock
        self._deciders, self._prepare, self._review, self._publish = deciders, prepare, review, publish
        self._decide_fast, self._decide_batch = decide_fast, decide_batch
        self._waiting: list[Job] = []
        self._task: asyncio.Task[None] | None = None
        self.busy = False
        self._counter_lead = CounterLead()
        self._expected_group_size = 0
        """Expected size of the next group: clients that were just answered tend to send their next command at once.
        Without waiting for them, the clients would split into two halves that alternate for ever."""

    def execute(self, command: Command, context: Context) -> asyncio.Future[Outcome]:
        """Queue the command; the future yields its outcome once that is durable, or raises a coded error."""
        job = Job(command, context, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return job.done

    async def close(self) -> None:
        """Wait until all pending commands are done."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def _work(self) -> None:
        self.busy = True
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
                await self._do(group)
                self._expected_group_size = len(group) + len(self._waiting)
        finally:
            self.busy = False

    async def _do(self, group: list[Job]) -> None:
        try:
            await self._commit_with_retries(group)
        except (UniqueViolation, Conflict) as error:
            await self._decide_singly(group, error)
        except BaseException as error:
            for job in group:
                _fail(job, error)
            if not isinstance(error, Exception):
                raise

    async def _decide_singly(self, group: list[Job], error: UgsError) -> None:
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
                # Both errors mean that nothing was stored, so the same group may be tried again.
                await asyncio.sleep(0 if isinstance(error, Conflict) and error.at_once else pause)
        await self._commit(group)

    async def _commit(self, group: list[Job]) -> None:
        """Decide and store a group. Answers, including refusals, are sent only after the commit they depend on."""
        answers: list[tuple[Job, Outcome | Exception]] = []
        events: list[Event] = []
        lead = 0
        try:
            async with self._storage.decision_session() as session:
                lead = await self._counter_lead.find(session)
                uow = UnitOfWork(session, self._catalog, await session.head(), self._clock.now(), lead)
                answers = await self._decide_all(group, uow)
                events = uow.events
                if events:
                    await session.append(events, uow.writes())
        except OutcomeUnknown as error:
            if not events or not await self._find_committed(events, error):
                raise Unavailable(str(error)) from error
        if events:
            self._counter_lead.settle(lead)
        self._publish(events)
        for job, answer in answers:
            _answer(job, answer)

    async def _decide_all(self, group: list[Job], uow: UnitOfWork) -> list[tuple[Job, Outcome | Exception]]:
        """Decide the group, and commands that arrive meanwhile, in up to `JOIN_ROUNDS` rounds."""
        answers: list[tuple[Job, Outcome | Exception]] = []
        for _ in range(JOIN_ROUNDS):
            await self._join(group)
            some = group[len(answers) :]
            if not some:
                break
            answers += await self._decide_jobs(some, uow)
        return answers

    async def _decide_jobs(self, jobs: list[Job], uow: UnitOfWork) -> list[tuple[Job, Outcome | Exception]]:
        await uow.prefetch_unlikely({RETRIES: [key for job in jobs if (key := _key_of(job)) is not None]})
        await self._prepare(uow, [job.command for job in jobs])
        return self._decide_job_batch(jobs, uow) or [(job, await self._decide(job, uow)) for job in jobs]

    async def _join(self, group: list[Job]) -> None:
        """Move newly arrived commands into the group, up to `MAX_GROUP`."""
        if len(group) < self._expected_group_size:
            await _yield_to_loop()
        room = MAX_GROUP - len(group)
        some, self._waiting = self._waiting[:room], self._waiting[room:]
        group += some

    def _decide_job_batch(self, jobs: list[Job], uow: UnitOfWork) -> list[tuple[Job, Outcome | Exception]] | None:
        """Decide many plain commands as one batch; None, without any effect, if they must be decided one by one."""
        if len(jobs) < BATCH_THRESHOLD or any(job.context.idempotency_key is not None for job in jobs):
            return None
        try:
            new = self._decide_batch([job.command for job in jobs], uow)
        except Exception:
            # A bug in the batch path must not fail the whole group: fall back to single decisions, and log it here,
            # since no caller will see this exception.
            log.exception("the batch decision failed; the commands are decided one by one")
            return None
        if new is None:
            return None
        closed = uow.record_each(new, [author(job.context) for job in jobs])
        return [(job, Outcome(events, rows=rows)) for job, (events, rows) in zip(jobs, closed, strict=True)]

    def _decide_synchronously(self, job: Job, uow: UnitOfWork) -> Outcome | None:
        """Decide a plain command synchronously; None, without any effect, if it needs the general path."""
        if job.context.idempotency_key is not None or not self._decide_fast(job.command, uow):
            return None
        rows = uow.changed_rows()
        return Outcome(uow.close_plain_command(author(job.context)), rows=rows)

    async def _decide(self, job: Job, uow: UnitOfWork) -> Outcome | Exception:
        """Decide one command; a refusal is rolled back in the unit of work and returned."""
        try:
            return self._decide_synchronously(job, uow) or await self._decide_once(job, uow)
        except (Unavailable, OutcomeUnknown, Conflict):
            raise
        except Exception as error:
            # Not only coded errors: a bug in one decision must not fail the other commands of the group.
            uow.undo_command()
            return error

    async def _decide_once(self, job: Job, uow: UnitOfWork) -> Outcome:
        idem = idem_for(job.command, job.context)
        if idem is not None:
            before = await uow.find(RETRIES, idem.key)
            if before is not None:
                return await _repeat(before, idem, job.context, uow)
        decider = self._deciders.get(type(job.command))
        if decider is None:
            raise InvalidSyntax(f"no feature knows the command {type(job.command).__name__}")
        decision: Decision = await decider(job.command, uow)
        await uow.stage(decision.drafts)
        warnings = await self._review(uow, uow.open_events)
        if warnings:
            decision = Decision(decision.drafts, [*decision.warnings, *warnings])
        return await self._close(uow, decision, idem, job.context)

    async def _close(self, uow: UnitOfWork, decision: Decision, idem: Idem | None, context: Context) -> Outcome:
        if idem is not None and uow.open_count:
            warnings = tuple(msgspec.to_builtins(warning) for warning in decision.warnings)
            idem = msgspec.structs.replace(idem, size=uow.open_count, warnings=warnings)
        rows = uow.changed_rows()
        return Outcome(await uow.close_command(author(context), idem), decision.warnings, rows=rows)

    async def _find_committed(self, events: list[Event], error: OutcomeUnknown) -> bool:
        """Read the log to find out whether a commit that lost its connection took place.

        The server may still be executing that commit. A write session waits for the writers' lock, so the commit is
        over when the log is read, and a negative answer stays true.
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


async def _yield_to_loop() -> None:
    """Give the event loop `LOOP_TURNS` iterations to send answers and accept requests."""
    for _ in range(LOOP_TURNS):
        await asyncio.sleep(0)


def author(context: Context) -> str | None:
    """The author to record in an event; None for the local user."""
    user = context.principal.user
    return None if user == LOCAL.principal.user else user


def _key_of(job: Job) -> str | None:
    """The key of the command's retry record, if any; an invalid key is reported later, by `idem_for`."""
    key = job.context.idempotency_key
    return retry_key(job.context.principal, key) if key and is_plain(key, 1) else None


def _answer(job: Job, answer: Outcome | Exception) -> None:
    if isinstance(answer, Exception):
        _fail(job, answer)
    elif not job.done.done():
        job.done.set_result(answer)


def _fail(job: Job, error: BaseException) -> None:
    if not job.done.done():
        job.done.set_exception(error)
        job.done.exception()  # a caller that went away must not turn this into a warning


def idem_for(command: Command, context: Context) -> Idem | None:
    """The idempotency record of a command: the key of a retry and a digest of the request."""
    key = context.idempotency_key
    if key is None:
        return None
    if not key or len(key) > MAX_KEY:
        raise InvalidSyntax(f"an idempotency key has between 1 and {MAX_KEY} characters")
    check_value(key, "idempotency key")
    try:
        asked = msgspec.to_builtins(command)
        body = to_text({name: value for name, value in asked.items() if name not in command.GENERATED_FIELDS})
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        # The decision would refuse it as well, in the same class, if it got that far.
        raise InvalidJSON(f"the request holds a value that is not JSON: {error}") from error
    return Idem(retry_key(context.principal, key), sha256(body.encode()).hexdigest())


async def _repeat(before: Row, idem: Idem, context: Context, uow: UnitOfWork) -> Outcome:
    """The outcome of the first try, rebuilt from the log; `IdempotencyConflict` if the request differs."""
    if before.hash != idem.hash:
        raise IdempotencyConflict(context.idempotency_key or "")
    wanted = range(before.position, before.position + before.size)
    events = [event for event in uow.events if event.position in wanted]
    if not events:
        events = await read_logged(uow.session, wanted)
    warnings = [msgspec.convert(item, CommandWarning) for item in from_text(before.warnings)]
    return Outcome(events, warnings, repeated=True)


async def read_logged(session: Session, positions: range) -> list[Event]:
    return await session.events(EventQuery(after=positions.start - 1, until=positions.stop - 1))
