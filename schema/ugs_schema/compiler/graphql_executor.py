"""graphql-core's executor with cooperative scheduling and a limit of the answer's size.

Resolvers over the memory store never suspend, so a long list would block the event loop. Here lists and awaited fields
pause when their time slice is over. The size of the answer is counted value by value, and an answer that becomes too
large is aborted before it is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextvars import ContextVar
from typing import Any

from graphql import Executor, GraphQLLeafType, is_leaf_type
from graphql.execution.incremental.incremental_executor import IncrementalExecutor
from msgspec import Raw

from ugs.errors import AnswerTooLarge, LimitExceeded
from ugs.support.budget import charge
from ugs.support.time_slice import TimeSlice

FEW_ROWS = 8
"""Lists up to this length are completed without checking the time."""
MANY_FIELDS = 256
"""The time is checked once in so many awaited fields; each pause splits a batch of the data loaders."""
FIELD_BYTES = 16
"""Approximate size of a field without its value: name, colon, comma."""
CHARGED_BYTES = 64 << 10
"""The memory of an answer is counted in steps of this size."""
VALUE_FACTOR = 3
"""An answer in the making needs so much more memory than its text: values, then the text."""


class AnswerBudget:
    """The remaining bytes of an answer; when they are spent, the task that builds it is cancelled."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes
        self.task: asyncio.Task[Any] | None = None
        self.refusal: LimitExceeded | None = None
        """Why there is no memory for the rest of the answer."""
        self._uncharged = 0

    @property
    def is_spent(self) -> bool:
        return self.left < 0 or self.refusal is not None

    def spend(self, amount: int) -> None:
        """Count bytes; if none are left, or no memory, cancel the operation's task and raise."""
        self.left -= amount
        if self.left < 0:
            self._give_up()
            raise AnswerTooLarge("The answer has become too large")
        self._uncharged += amount
        if self._uncharged > CHARGED_BYTES:
            self._charge()

    def check(self, amount: int) -> None:
        """Raise as `spend` does if so many bytes are not left; counts nothing."""
        if amount > self.left:
            self.spend(amount)

    def _charge(self) -> None:
        """Count what was added since the last time against the memory of the request."""
        size, self._uncharged = self._uncharged, 0
        try:
            charge(VALUE_FACTOR * size)
        except LimitExceeded as error:
            self.refusal = error
            self._give_up()
            raise

    def _give_up(self) -> None:
        if self.task is not None:
            self.task.cancel()


BUDGET: ContextVar[AnswerBudget] = ContextVar("budget of the answer")
"""The budget of the current operation."""


class BoundedExecutor(IncrementalExecutor):
    """Yields to the event loop and counts the bytes of the answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._time = TimeSlice()
        self._budget = BUDGET.get()
        self._fields = 0
        self._pause: asyncio.Future[None] | None = None

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Every event of a subscription is an answer of its own."""
        executor = super().build_per_event_executor(payload)
        assert isinstance(executor, BoundedExecutor)
        executor._time, executor._pause = TimeSlice(), None
        executor._budget = AnswerBudget(self._budget.max_bytes)
        return executor

    def complete_iterable_value(
        self, item_type: Any, field_details_list: Any, info: Any, path: Any, items: Iterable[Any], *positional: Any
    ) -> Any:
        if not isinstance(items, list) or len(items) <= FEW_ROWS or is_leaf_type(item_type):
            return super().complete_iterable_value(item_type, field_details_list, info, path, items, *positional)
        return self.complete_async_iterator_value(
            item_type, field_details_list, info, path, self._complete_items(items), *positional
        )

    async def _complete_items(self, items: list[Any]) -> AsyncIterator[Any]:
        for item in items:
            if self._time.is_over:
                await self._share_pause()
            yield item

    async def complete_awaitable_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, *positional: Any
    ) -> Any:
        self._fields += 1
        is_root = path.prev is None
        if self._pause is not None or ((is_root or self._fields % MANY_FIELDS == 0) and self._time.is_over):
            await self._share_pause()
        while is_root and self._time.is_over:  # another root field has run since the pause
            await self._share_pause()
        return await super().complete_awaitable_value(return_type, field_details_list, info, path, *positional)

    async def _share_pause(self) -> None:
        """Pause all fields of an operation together, so that their look-ups afterwards are still batched."""
        if self._pause is None:
            self._pause = asyncio.ensure_future(self._time.pause())
            self._pause.add_done_callback(self._resume)
        await asyncio.shield(self._pause)

    def _resume(self, pause: asyncio.Future[None]) -> None:
        self._pause = None

    def complete_leaf_value(self, return_type: GraphQLLeafType, result: Any) -> Any:  # type: ignore[override]
        value = IncrementalExecutor.complete_leaf_value(return_type, result)
        size = FIELD_BYTES
        if type(value) is str:
            size += len(value)
        elif isinstance(value, dict | list):
            size += json_bytes(value, self._budget.left)
        elif type(value) is Raw:
            size += len(value)
        self._budget.spend(size)
        return value


def json_bytes(value: Any, max_bytes: int) -> int:
    """The approximate size of a value as JSON; stops counting beyond `max_bytes`."""
    total, todo = 0, [value]
    while todo and total <= max_bytes:
        one = todo.pop()
        if isinstance(one, str):
            total += len(one) + 3
        elif isinstance(one, dict):
            total += 2 + sum(map(len, one))
            todo += one.values()
        elif isinstance(one, list | tuple):
            total += 2
            todo += one
        else:
            total += 8
    return total
