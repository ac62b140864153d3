"""Questions of one kind asked together: whoever comes while one is under way waits for the next and shares it.

The busier a gateway is, the fewer calls it makes per answer; an idle one waits for nobody and for no timer. When a
shared call fails, each question is asked alone and fails alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

V = TypeVar("V")
A = TypeVar("A")

UNDER_WAY = 2
"""So many calls may be under way at once: one is answered while the next is asked."""


class _Question(Generic[V, A]):
    """A value, and where its answer is told unless whoever asks fetches it alone."""

    __slots__ = ("answer", "value")

    def __init__(self, value: V) -> None:
        self.value = value
        self.answer: asyncio.Future[A] | None = None

    def wait(self) -> asyncio.Future[A]:
        if self.answer is None:
            self.answer = asyncio.get_running_loop().create_future()
        return self.answer


class Sharing(Generic[V, A]):
    """Asks for values of one kind, several at once where several wait."""

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
        """Who has just come, alone, and looks whether others follow."""
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, value: V) -> A:
        """The answer for a value."""
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
        """Whoever comes alone needs no task and nobody to tell the answer."""
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
        """Ask for those who wait, if no more than enough is under way."""
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
            except Exception:  # told to those it is about, when they are asked for alone
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
