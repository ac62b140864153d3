"""An actor type of one's own: nodes of type `counter` that count.

Installed with the entry point `counter = "counter_actor:Counter"` in the group `ugs.actors`.
"""

from ugs.actors import Actor, Answer, Payload, Turn, handles


class Add(Payload, frozen=True):
    by: int = 1


class Counter(Actor):
    @handles("add", Add)
    async def add(self, turn: Turn, add: Add) -> Answer:
        turn.update(count=turn.properties.get("count", 0) + add.by)
        return {"count": turn.properties["count"]}
