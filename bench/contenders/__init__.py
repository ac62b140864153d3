"""The sides of a comparison: our stores, raw drivers, and in-memory structures.

A side answers questions with JSON bytes. `jobs` maps the kind of a question to a function; a side that has nothing
to await offers plain functions, so that it does not pay for waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

Job = Callable[..., bytes] | Callable[..., Awaitable[bytes]]


class Side(Protocol):
    """Somebody who answers the questions."""

    name: str
    jobs: Mapping[str, Job]

    async def close(self) -> None: ...
