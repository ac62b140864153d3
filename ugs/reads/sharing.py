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
        self._waiting: list[tuple[V, asyncio.Future[A]]] = []
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, value: V) -> A:
        """The answer for a value."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((value, answer))
        if self._under_way < self._calls:
            self._under_way += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def _work(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[: self._together], self._waiting[self._together :]
                await self._ask([one for one in some if not one[1].done()])
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
