"""Words: how nodes and queries are cut into tokens, and how matches are ranked.

One function serves both sides, so that whatever is stored can be found by typing it. Weights say where a word
stood: in the id, the type, a property or the data. Addresses are words too (weight 0), which gives back-references.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from ugs.values import Json, find_addresses, from_text

WORD = re.compile(r"[\w-]+")
PART = re.compile(r"[^\W_]+")
LONGEST_WORD = 128
ID_WEIGHT, TYPE_WEIGHT, PROPERTY_WEIGHT, DATA_WEIGHT = 4.0, 2.0, 1.0, 0.5


def folded(text: str) -> str:
    """Text in the form in which it is compared: compatibility-composed, case folded."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def split_words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits, `_` and `-`."""
    return [word for word in WORD.findall(folded(text)) if len(word) <= LONGEST_WORD]


def word_parts(word: str) -> list[str]:
    """The pieces of a word around its `_` and `-`; none when the word is one piece already."""
    parts = PART.findall(word)
    return [] if parts == [word] else parts


def tokens(text: str) -> Iterator[str]:
    """Words and their parts."""
    for word in split_words(text):
        yield word
        yield from word_parts(word)


def text_leaves(value: Json, scalars: bool = False) -> Iterator[str]:
    """Strings at any depth of a value; with `scalars` also numbers and booleans as JSON writes them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from text_leaves(item, scalars)
    elif isinstance(value, dict):
        for item in value.values():
            yield from text_leaves(item, scalars)
    elif scalars and value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def node_words(id: str, type: str | None, properties: str, data: str | None) -> dict[str, float]:
    """Every word of a node with its weight, and a marker for each address it mentions."""
    weights: dict[str, float] = {}
    _add(weights, [id.lower(), *tokens(id)], ID_WEIGHT)
    _add(weights, tokens(type) if type else (), TYPE_WEIGHT)
    values = [(from_text(properties), PROPERTY_WEIGHT, False)] if properties != "{}" else []
    if data is not None:
        values.append((from_text(data), DATA_WEIGHT, True))
    for value, weight, scalars in values:
        _add(weights, (token for leaf in text_leaves(value, scalars) for token in tokens(leaf)), weight)
        _mark_addresses(weights, value)
    return weights


def reference_words(properties: str) -> dict[str, float]:
    """Markers for the addresses in the properties of an edge; edges are not searched by text."""
    weights: dict[str, float] = {}
    if "@(" in properties:
        _mark_addresses(weights, from_text(properties))
    return weights


def reference_word(id: str) -> str:
    """The marker under which mentions of an element are found."""
    return f"@({id})"


def _add(weights: dict[str, float], words: Iterable[str], weight: float) -> None:
    for word in set(words):
        weights[word] = weights.get(word, 0.0) + weight


def _mark_addresses(weights: dict[str, float], value: Json) -> None:
    for _, address in find_addresses(value):
        weights.setdefault(reference_word(address.id), 0.0)


def rarity(total: int, matching: int) -> float:
    """Inverse document frequency: the rarer a word, the more it says."""
    return math.log(1.0 + total / matching) if matching else 0.0


def relevance(weights: Mapping[str, float], rarities: Mapping[str, float]) -> float:
    """How well a node answers: rarity times place, summed over the words of the query."""
    return math.fsum(rarity * weights.get(word, 0.0) for word, rarity in rarities.items())
