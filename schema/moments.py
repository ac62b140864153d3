"""Where in time to read."""

from __future__ import annotations

import strawberry

from schema.scalars import Instant, Position
from ugs.moments import At as KernelAt


@strawberry.input(one_of=True, description="Where in time to read: now when omitted")
class At:
    position: Position | None = strawberry.field(default=strawberry.UNSET, description="After this many events")
    instant: Instant | None = strawberry.field(default=strawberry.UNSET, description="At this time")


def moment_of(at: At | None) -> KernelAt | None:
    """The kernel's place in time; none was asked for when the argument is absent or null."""
    if not at:
        return None
    if isinstance(at.position, int):
        return KernelAt(position=at.position)
    return KernelAt.time(at.instant) if at.instant else None
