"""When to send a request again, and how long to wait before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from ugs_client.errors import ClientError, GatewayError, Unreachable


class Retries(NamedTuple):
    """How often a request is sent, and how the waits between grow."""

    attempts: int = 6
    """How often a request is sent in all; for a subscription, how many connections may fail one after the other."""
    first_wait_seconds: float = 0.05
    max_wait_seconds: float = 5.0

    def waits(self) -> Iterator[float]:
        """The waits before the second and every later attempt: doubled each time, up to half of each left to chance."""
        wait = self.first_wait_seconds
        for _ in range(self.attempts - 1):
            yield wait * random.uniform(0.5, 1.0)
            wait = min(wait * 2, self.max_wait_seconds)


RETRIES = Retries()
NO_RETRIES = Retries(attempts=1)


def is_transient(error: ClientError) -> bool:
    """Whether the same request, sent again, may be answered."""
    if isinstance(error, GatewayError):
        return error.code == "OUTCOME_UNKNOWN" or (error.retryable and error.code != "VERSION_CONFLICT")
    return isinstance(error, Unreachable)
