"""The argument `at`: the point in time to read at."""

from __future__ import annotations

import strawberry

from ugs.log.at import At as KernelAt
from ugs_schema.scalars import Instant, Position


@strawberry.input(one_of=True, description="Where in time to read: now when omitted")
class At:
    position: Position | None = strawberry.field(default=strawberry.UNSET, description="After this many events")
    instant: Instant | None = strawberry.field(default=strawberry.UNSET, description="At this time")


def parse_at(at: At | None) -> KernelAt | None:
    """The kernel's point in time; None if the argument is absent or null."""
    if not at:
        return None
    if isinstance(at.position, int):
        return KernelAt(position=at.position)
    return KernelAt.time(at.instant) if at.instant else None
