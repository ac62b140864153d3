"""Knowledge: text that grows, is asked, and is put together with others'. Nothing here needs a model.

To answer with one, inherit from `Knowledge`, override `answer` or `joined`, and register the class under `knowledge`.
"""

from __future__ import annotations

import re
from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Payload, handles
from ugs.actors.runtime.message_context import MessageContext
from ugs.actors.runtime.transaction import NodeState
from ugs.actors.types.standard_messages import Actor
from ugs.graph.text.tokenizer import split_words
from ugs.values import to_text

SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
SUMMARY_CHARS = 200
MIN_WORD_CHARS = 4
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

    def state_of(self, context: MessageContext) -> str:
        return "active"

    async def metadata(self, context: MessageContext) -> dict[str, Any]:
        return {
            "version": version_of(context.properties),
            "contentLength": len(content_of(context.properties)),
            "sourceCount": len(sources_of(context.properties)),
        }

    @handles("append", AppendPayload)
    async def append(self, context: MessageContext, payload: AppendPayload) -> Answer:
        content = content_of(context.properties)
        added = payload.data if isinstance(payload.data, str) else to_text(payload.data)
        version = version_of(context.properties) + 1
        context.update(content=f"{content}\n\n{added}" if content else added, version=version)
        if payload.source is not None:
            context.update(sources=[*sources_of(context.properties), payload.source])
        return {"version": version}

    @handles("query", QueryPayload)
    async def query(self, context: MessageContext, payload: QueryPayload) -> Answer:
        content = content_of(context.properties)
        return {
            **await self.answer(payload.question, content, payload.context),
            "sources": sources_of(context.properties),
        }

    async def answer(self, question: str, content: str, context: Any) -> dict[str, Any]:
        """`answer` and `confidence`: the sentence that shares most words with the question, without any model."""
        asked = {word for word in split_words(question) if len(word) >= MIN_WORD_CHARS}
        matched = asked & set(split_words(content))
        return {"answer": best_sentence(content, matched), "confidence": len(matched) / len(asked) if asked else 0}

    @handles("synthesize", SynthesizePayload)
    async def synthesize(self, context: MessageContext, payload: SynthesizePayload) -> Answer:
        others = await context.nodes(payload.from_nodes)
        nodes = [
            context.node,
            *(others[id] for id in dict.fromkeys(payload.from_nodes) if id in others and id != context.id),
        ]
        known = [node for node in nodes if node.type in ("knowledge", context.type) and content_of(node.properties)]
        sources = [source for node in known for source in sources_of(node.properties)]
        unknown = [id for id in dict.fromkeys(payload.from_nodes) if id not in others and id != context.id]
        told = {"unknown": unknown} if unknown else {}
        return {"synthesis": await self.joined(known), "sources": distinct(sources), **told}

    async def joined(self, nodes: list[NodeState]) -> str:
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
        return content[:SUMMARY_CHARS] or NOTHING
    sentences = [found.group().strip() for found in SENTENCE.finditer(content)]
    return max(sentences, key=lambda sentence: len(words & set(split_words(sentence))))


def distinct(values: list[Any]) -> list[Any]:
    """Values in their order, each once."""
    return list({to_text(value): value for value in values}.values())
