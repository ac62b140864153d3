"""Exports of conversations (`conversations.json`): what the person wrote, one note per message.

The assistant's part is left out: it repeats, guesses, and is not what its user told.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ugs.facts.importers.base import (
    RefusedRow,
    Row,
    UnusableRow,
    checked,
    note,
    optional_text,
    portions,
    read_json,
    rows_in,
)


def read_claude(path: Path) -> Iterator[Row]:
    """The messages of `sender` human, in their order."""
    for number, conversation in enumerate(rows_in(read_json(path), path, "conversations")):
        place = f"conversation {number}"
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(messages, list):
            yield RefusedRow(place, "it has no list chat_messages")
            continue
        for at, message in enumerate(messages):
            if isinstance(message, dict) and message.get("sender") == "human":
                text = optional_text(message, "text") or _texts(message.get("content"))
                yield from _rows(f"{place}, message {at}", "claude", conversation, message, text)


def read_chatgpt(path: Path) -> Iterator[Row]:
    """The messages of the author role user, in the order of the file."""
    for number, conversation in enumerate(rows_in(read_json(path), path, "conversations")):
        place = f"conversation {number}"
        mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
        if not isinstance(mapping, dict):
            yield RefusedRow(place, "it has no object mapping")
            continue
        for at, node in enumerate(mapping.values()):
            message = node.get("message") if isinstance(node, dict) else None
            author = message.get("author") if isinstance(message, dict) else None
            if isinstance(message, dict) and isinstance(author, dict) and author.get("role") == "user":
                content = message.get("content")
                parts = content.get("parts") if isinstance(content, dict) else None
                yield from _rows(f"{place}, message {at}", "chatgpt", conversation, message, _texts(parts))


def _texts(parts: Any) -> str:
    """The texts among the parts of a message; pictures and files are left out."""
    if not isinstance(parts, list):
        return ""
    texts = [part if isinstance(part, str) else optional_text(part, "text") or "" for part in parts if part]
    return "\n".join(text for text in texts if text.strip())


def _rows(place: str, origin: str, conversation: Any, message: Any, text: str) -> Iterator[Row]:
    ids = (optional_text(conversation, "uuid", "id", "conversation_id"), optional_text(message, "uuid", "id"))
    source = f"{origin}:{'/'.join(id for id in ids if id)}"
    try:
        yield from [checked(place, note(part, source)) for part in portions(text)]
    except UnusableRow as refused:
        yield RefusedRow(place, str(refused))
