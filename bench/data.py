"""The graph that is measured: invented, the same every time, and shaped like real ones.

Four edges per node. A few nodes have very many (the source of an edge has rank n·u², its target n·u^1.5 for a
uniform u), most have one or two. Texts use a vocabulary in which a few words are common and most are rare.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec import Struct

from ugs.events import GENESIS_CRC, Event, event_id, seal
from ugs.values import to_text

EDGES_PER_NODE = 4
CHUNK = 5_000
START = 1_750_000_000_000
TYPES = ("person", "company", "document", "event", "place", "concept", "task", "message", "product", "metric")
EDGE_TYPES = ("knows", "mentions", "owns", "part_of", "derived_from")
TAGS = (("alpha", "beta"), ("beta", "gamma"), ("delta", "alpha"), ("epsilon", "gamma"), ("gamma", "alpha"))
ONSETS = ["b", "ch", "d", "f", "g", "h", "k", "l", "m", "n", "p", "qu", "r", "s", "t", "v", "w", "z", "br", "st"]
VOWELS = ["a", "e", "i", "o", "u", "ai", "ou"]


def vocabulary(count: int = 5_000) -> list[str]:
    """Invented words, the common ones first."""
    syllables = [onset + vowel for onset in ONSETS for vowel in VOWELS]
    many = len(syllables)
    return [
        syllables[index % many] + syllables[index // many % many] + syllables[(index * 7 + 3) % many]
        for index in range(count)
    ]


WORDS = vocabulary()


class NodeMade(Struct, frozen=True, gc=False):
    """A node as its event tells it."""

    id: str
    type: str
    properties: dict[str, Any]
    data: dict[str, Any]
    created: int


class EdgeMade(Struct, frozen=True, gc=False):
    """An edge as its event tells it; `seq` is the position of that event."""

    id: str
    source: str
    target: str
    type: str
    weight: float
    properties: dict[str, Any]
    created: int
    seq: int


def node_id(rank: int) -> str:
    return f"n{rank:07d}"


def edge_id(number: int) -> str:
    return f"e{number:08d}"


def moment(position: int) -> int:
    """When the event at a position happened: ten events a millisecond."""
    return START + position // 10


def nodes(size: int) -> Iterator[NodeMade]:
    """All nodes, best connected first."""
    random = Random(7)
    for rank in range(size):
        yield _node(rank, random)


def _node(rank: int, random: Random) -> NodeMade:
    kind = TYPES[int(10 * random.random() ** 1.5)]
    properties = {
        "active": random.random() < 0.8,
        "label": "naïve “quoted” é" if rank % 50 == 0 else "plain label",
        "name": f"{kind} {rank}",
        "score": round(random.random() * 100, 3),
        "tags": TAGS[rank % 5],
    }
    data = {"note": " ".join(_words(random)), "rev": rank % 9, "source": "import"}
    return NodeMade(node_id(rank), kind, properties, data, moment(rank + 1))


def _words(random: Random) -> list[str]:
    return [WORDS[int(len(WORDS) * random.random() ** 3)] for _ in range(4 + int(4 * random.random()))]


def edges(size: int) -> Iterator[EdgeMade]:
    """All edges, oldest first."""
    random = Random(11).random
    for number in range(size * EDGES_PER_NODE):
        seq = size + number + 1
        yield EdgeMade(
            edge_id(number),
            node_id(int(size * random() ** 2)),
            node_id(int(size * random() ** 1.5)),
            EDGE_TYPES[int(5 * random())],
            # An odd number of half thousandths: never whole, so that every side prints it alike.
            (int(random() * 10_000) * 2 + 1) / 2_000,
            {"since": 1990 + number % 35},
            moment(seq),
            seq,
        )


def node_event(node: NodeMade, position: int) -> Event:
    data = {
        "id": node.id,
        "type": node.type,
        "properties": node.properties,
        "data": node.data,
        "created": node.created,
        "modified": node.created,
    }
    return _event("NodeAdded", node.id, node.created, position, data)


def edge_event(edge: EdgeMade) -> Event:
    data = {
        "id": edge.id,
        "from": edge.source,
        "to": edge.target,
        "type": edge.type,
        "weight": edge.weight,
        "properties": edge.properties,
        "created": edge.created,
        "modified": edge.created,
    }
    return _event("EdgeAdded", edge.id, edge.created, edge.seq, data)


def _event(type: str, id: str, timestamp: int, position: int, data: dict[str, Any]) -> Event:
    return Event(
        position=position,
        id=event_id(timestamp, position),
        timestamp=timestamp,
        type=type,
        data=to_text(data),
        element=id,
        version=1,
    )


def events(size: int, with_edges: bool = True) -> Iterator[Event]:
    """The log that makes the graph, each line tied to the one before."""
    crc = GENESIS_CRC
    for event in _make_events(size, with_edges):
        sealed = seal(event, crc)
        crc = sealed.crc or crc
        yield sealed


def _make_events(size: int, with_edges: bool) -> Iterator[Event]:
    for position, node in enumerate(nodes(size), start=1):
        yield node_event(node, position)
    if with_edges:
        for edge in edges(size):
            yield edge_event(edge)


def event_count(size: int) -> int:
    """How many events the whole graph takes."""
    return size * (1 + EDGES_PER_NODE)


def chunks(log: Iterator[Event], size: int = CHUNK) -> Iterator[list[Event]]:
    """The log in pieces for bulk loading."""
    chunk: list[Event] = []
    for event in log:
        chunk.append(event)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
