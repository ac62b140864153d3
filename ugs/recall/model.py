"""What recall returns."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.facts.model import Entity
from ugs.facts.temporal.instants import Instant, instant_text


class RecallKind(StrEnum):
    """The kinds of items."""

    FACT = "fact"
    NOTE = "note"
    PASSAGE = "passage"
    NODE = "node"


class Quote(Struct, frozen=True):
    """The part of a note that supports a fact."""

    note_id: str
    text: str


class Reasons(Struct, frozen=True):
    """Why an item was ranked where it is; the points add up to its score."""

    words: list[str]
    """The words of the question that it matches."""
    word_points: int = 0
    likeness_points: int = 0
    graph_points: int = 0
    freshness_points: int = 0
    distance: int | None = None
    """Facts between it and an entity named in the question; None if there is none."""
    outdated: bool = False
    """A note whose facts no longer hold; its points are halved."""

    @property
    def text(self) -> str:
        """The reasons as a phrase."""
        parts = [f"words: {', '.join(self.words)}"] if self.words else []
        if self.distance is not None:
            parts.append("about an entity named" if self.distance == 0 else f"{self.distance} fact away")
        if self.likeness_points:
            parts.append("similar text")
        if self.outdated:
            parts.append("facts no longer hold")
        return "; ".join(parts)


class RecallItem(Struct, frozen=True):
    """One recalled item."""

    kind: RecallKind
    id: str
    text: str
    score: int
    reasons: Reasons
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    scope: str | None = None
    evidence: tuple[Quote, ...] = ()
    note_id: str | None = None
    """Of a note: its id again, so that items and quotes can be joined."""

    def as_json(self) -> dict[str, Any]:
        """The item as JSON; keys without a value are left out."""
        optional = {
            "valid_from": None if self.valid_from is None else instant_text(self.valid_from),
            "valid_to": None if self.valid_to is None else instant_text(self.valid_to),
            "scope": self.scope,
            "evidence": [{"note_id": quote.note_id, "text": quote.text} for quote in self.evidence] or None,
        }
        always = {"kind": str(self.kind), "id": self.id, "text": self.text, "score": self.score}
        return always | {"why": self.reasons.text} | {key: value for key, value in optional.items() if value}

    @property
    def line(self) -> str:
        """The item as one block of text for a prompt; its length is what counts against the budget."""
        begin = "" if self.valid_from is None else f" since {instant_text(self.valid_from)}"
        end = "" if self.valid_to is None else f" until {instant_text(self.valid_to)}"
        quotes = "".join(f' — "{quote.text}" [note {quote.note_id}]' for quote in self.evidence)
        return f"[{self.kind} {self.id}]{begin}{end} {self.text}{quotes}"


class RecallResult(Struct, frozen=True):
    """The items within the budget, best first, and what was left out."""

    items: list[RecallItem]
    entities: list[Entity]
    """The entities that the question names."""
    as_of: Instant
    tokens: int
    """The estimated tokens of all items; never more than the budget."""
    budget: int
    omitted: int
    """Ranked items that were left out, because of the budget or the limit."""
    truncated: bool = False
    """Whether a word of the question was so frequent that only its newest matches were considered."""

    def as_json(self) -> dict[str, Any]:
        """The result as JSON, with the names of the entities instead of their rows."""
        return {
            "items": [item.as_json() for item in self.items],
            "entities": [entity.canonical for entity in self.entities],
            "as_of": instant_text(self.as_of),
            "tokens": self.tokens,
            "budget_tokens": self.budget,
            "omitted": self.omitted,
            "truncated": self.truncated,
        }

    @property
    def text(self) -> str:
        """All items as text for a prompt."""
        return "\n".join(item.line for item in self.items)
