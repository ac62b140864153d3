"""An actor type of one's own: nodes of type `counter` that count.

Installed with the entry point `counter = "counter_actor:Counter"` in the group `ugs.actors`.
"""

from ugs.actors import Actor, Answer, MessageContext, Payload, handles


class Add(Payload, frozen=True):
    by: int = 1


class Counter(Actor):
    @handles("add", Add)
    async def add(self, context: MessageContext, add: Add) -> Answer:
        context.update(count=context.properties.get("count", 0) + add.by)
        return {"count": context.properties["count"]}
