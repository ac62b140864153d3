"""Knowledge: text that grows, is asked, and is put together with others'. Nothing here needs a model.

To answer with one, inherit from `Knowledge`, override `answer` or `joined`, and register the class under `knowledge`.
"""

from __future__ import annotations

import re
from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.standard import Actor
from ugs.actors.turn import Turn
from ugs.actors.work import Known
from ugs.graph.text import split_words
from ugs.values import to_text

SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
OPENING = 200
SHORTEST_WORD = 4
NOTHING = "Nothing is known about this."


class AppendPayload(Payload, frozen=True):
    data: Any
    source: Any = None


class QueryPayload(Payload, frozen=True):
    question: str
    context: Any = None


class SynthesizePayload(Payload, frozen=True):
    from_nodes: list[str]


class Knowledge(Actor):
    """An information store: title, content, sources."""

    def state_of(self, turn: Turn) -> str:
        return "active"

    async def metadata(self, turn: Turn) -> dict[str, Any]:
        return {
            "version": version_of(turn.properties),
            "contentLength": len(content_of(turn.properties)),
            "sourceCount": len(sources_of(turn.properties)),
        }

    @handles("append", AppendPayload)
    async def append(self, turn: Turn, payload: AppendPayload) -> Answer:
        content = content_of(turn.properties)
        added = payload.data if isinstance(payload.data, str) else to_text(payload.data)
        version = version_of(turn.properties) + 1
        turn.update(content=f"{content}\n\n{added}" if content else added, version=version)
        if payload.source is not None:
            turn.update(sources=[*sources_of(turn.properties), payload.source])
        return {"version": version}

    @handles("query", QueryPayload)
    async def query(self, turn: Turn, payload: QueryPayload) -> Answer:
        content = content_of(turn.properties)
        return {**await self.answer(payload.question, content, payload.context), "sources": sources_of(turn.properties)}

    async def answer(self, question: str, content: str, context: Any) -> dict[str, Any]:
        """`answer` and `confidence`: the sentence that shares most words with the question, without any model."""
        asked = {word for word in split_words(question) if len(word) >= SHORTEST_WORD}
        matched = asked & set(split_words(content))
        return {"answer": best_sentence(content, matched), "confidence": len(matched) / len(asked) if asked else 0}

    @handles("synthesize", SynthesizePayload)
    async def synthesize(self, turn: Turn, payload: SynthesizePayload) -> Answer:
        others = await turn.nodes(payload.from_nodes)
        nodes = [turn.node, *(others[id] for id in dict.fromkeys(payload.from_nodes) if id in others and id != turn.id)]
        known = [node for node in nodes if node.type in ("knowledge", turn.type) and content_of(node.properties)]
        sources = [source for node in known for source in sources_of(node.properties)]
        return {"synthesis": await self.joined(known), "sources": distinct(sources)}

    async def joined(self, nodes: list[Known]) -> str:
        """The contents under numbered headings, each text once."""
        contents = dict.fromkeys(content_of(node.properties) for node in nodes)
        return "\n\n".join(f"[Source {number}]\n{content}" for number, content in enumerate(contents, 1))


def content_of(properties: dict[str, Any]) -> str:
    content = properties.get("content")
    return content if isinstance(content, str) else ""


def sources_of(properties: dict[str, Any]) -> list[Any]:
    sources = properties.get("sources")
    return sources if isinstance(sources, list) else []


def version_of(properties: dict[str, Any]) -> int:
    version = properties.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) else 1


def best_sentence(content: str, words: set[str]) -> str:
    """The first of the sentences with most of the words; without any, how the content begins."""
    if not words:
        return content[:OPENING] or NOTHING
    sentences = [found.group().strip() for found in SENTENCE.finditer(content)]
    return max(sentences, key=lambda sentence: len(words & set(split_words(sentence))))


def distinct(values: list[Any]) -> list[Any]:
    """Values in their order, each once."""
    return list({to_text(value): value for value in values}.values())
