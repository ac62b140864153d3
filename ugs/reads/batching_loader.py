"""A batching loader: requests that arrive while a call is in progress wait and share the next call.

The busier the gateway, the fewer calls per request; on an idle one there is no added delay and no timer. When a batch
fails, its requests are repeated one by one, so that each gets its own error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

V = TypeVar("V")
A = TypeVar("A")

UNDER_WAY = 2
"""Default number of concurrent calls: one can be answered while the next is sent."""


class _Question(Generic[V, A]):
    """A requested value, with a future for its answer, created only if the request joins a batch."""

    __slots__ = ("answer", "value")

    def __init__(self, value: V) -> None:
        self.value = value
        self.answer: asyncio.Future[A] | None = None

    def wait(self) -> asyncio.Future[A]:
        if self.answer is None:
            self.answer = asyncio.get_running_loop().create_future()
        return self.answer


class BatchingLoader(Generic[V, A]):
    """Loads values with `one`, or with `many` where several requests are waiting."""

    def __init__(
        self,
        one: Callable[[V], Awaitable[A]],
        many: Callable[[list[V]], Awaitable[list[A]]],
        together: int = 64,
        calls: int = UNDER_WAY,
    ) -> None:
        self._one, self._many, self._together, self._calls = one, many, together, calls
        self._waiting: list[_Question[V, A]] = []
        self._first: _Question[V, A] | None = None
        """A request that arrived alone and yields once to see whether others follow."""
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, value: V) -> A:
        """Load the answer for a value."""
        question: _Question[V, A] = _Question(value)
        if self._under_way < self._calls and self._first is None and not self._waiting:
            return await self._ask_first(question)
        self._waiting.append(question)
        if self._first is not None:
            self._waiting.insert(0, self._first)
            self._first = None
        self._start()
        return await question.wait()

    async def _ask_first(self, question: _Question[V, A]) -> A:
        """Load a single request directly in the caller's task, without a future, unless others join within one turn of
        the event loop."""
        self._first = question
        try:
            await asyncio.sleep(0)
        finally:
            alone = self._first is question
            if alone:
                self._first = None
        if not alone:
            return await question.wait()
        self._under_way += 1
        try:
            return await self._one(question.value)
        finally:
            self._under_way -= 1
            self._start()

    def _start(self) -> None:
        """Start a task for the waiting requests unless the maximum of calls is in progress."""
        if self._waiting and self._under_way < self._calls:
            self._under_way += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[: self._together], self._waiting[self._together :]
                await self._ask([(each.value, each.wait()) for each in some if not each.wait().done()])
        finally:
            self._under_way -= 1

    async def _ask(self, some: list[tuple[V, asyncio.Future[A]]]) -> None:
        if len(some) > 1:
            try:
                answers = await self._many([value for value, _ in some])
            except Exception:  # the single calls below raise it for the requests it concerns
                pass
            else:
                for (_, future), answer in zip(some, answers, strict=True):
                    _settle(future, answer)
                return
        for value, future in some:
            await self._ask_alone(value, future)

    async def _ask_alone(self, value: V, future: asyncio.Future[A]) -> None:
        try:
            _settle(future, await self._one(value))
        except Exception as error:
            if not future.done():
                future.set_exception(error)


def _settle(future: asyncio.Future[A], answer: A) -> None:
    if not future.done():
        future.set_result(answer)
