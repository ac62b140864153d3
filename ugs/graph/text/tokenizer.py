"""The tokenizer of nodes and queries, and the ranking of matches.

The same tokenizer serves both sides, so that any stored text is found by typing it. The weight of a word depends on
where it occurs: id, type, properties, data or content. Addresses are words too (weight 0), which gives back-references.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from ugs.reads.text_ranking import UNIT
from ugs.values import Json, find_addresses, from_text

WORD = re.compile(r"[\w-]+")
PART = re.compile(r"[^\W_]+")
MAX_WORD_CHARS = 128
_PLAIN = "".join(char.lower() if WORD.match(char) else " " for char in map(chr, range(128)))
"""Translation table for ASCII: separators become spaces, so that `str.split` finds the words faster than a regex."""
ID_WEIGHT, TYPE_WEIGHT, PROPERTY_WEIGHT, DATA_WEIGHT, CONTENT_WEIGHT = 4.0, 2.0, 1.0, 0.5, 0.5
MAX_INDEXED_CONTENT_CHARS = 64 << 10
"""Number of leading characters of a content that are tokenized."""
MAX_CONTENT_WORDS = 4_096
"""Maximum number of distinct words per content, so that a long text does not dominate the index."""


def folded(text: str) -> str:
    """Text normalised for comparison: NFKC, case-folded."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def split_words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits, `_` and `-`."""
    words: list[str] = text.translate(_PLAIN).split() if text.isascii() else WORD.findall(folded(text))
    return words if len(text) <= MAX_WORD_CHARS else [word for word in words if len(word) <= MAX_WORD_CHARS]


def word_parts(word: str) -> list[str]:
    """The parts of a word between `_` and `-`; empty if it has only one."""
    return [] if word.isalnum() else PART.findall(word)


def tokens(text: str) -> set[str]:
    """Words and their parts."""
    found = set(split_words(text))
    if "_" in text or "-" in text or not text.isascii():  # otherwise every word has one part
        for word in tuple(found):
            if not word.isalnum():
                found.update(PART.findall(word))
    return found


def id_tokens(id: str) -> set[str]:
    """The tokens of an id, and the id as a whole; with a shortcut for plain ASCII ids."""
    low = id.lower()
    plain = low.replace("-", "_")
    if not plain.isidentifier() or not plain.isascii() or len(plain) > MAX_WORD_CHARS:
        return {low, *tokens(id)}
    return {low} if low.isalnum() else {low, *filter(None, plain.split("_"))}


def text_leaves(value: Json, scalars: bool = False) -> list[str]:
    """Strings at any depth of a value; with `scalars` also numbers and booleans as text."""
    leaves: list[str] = []
    _collect_leaves(value, scalars, leaves)
    return leaves


def _collect_leaves(value: Json, scalars: bool, leaves: list[str]) -> None:
    # Hot path of every write, hence exact type checks and few calls.
    kind = type(value)
    if kind is str:
        leaves.append(value)
    elif kind is dict or kind is list:
        for item in value.values() if kind is dict else value:
            if type(item) is str:
                leaves.append(item)
            else:
                _collect_leaves(item, scalars, leaves)
    elif scalars and value is not None:
        leaves.append(str(value).lower() if kind is bool else str(value))


def json_tokens(value: Json, scalars: bool) -> set[str]:
    """The tokens of all texts inside a value."""
    leaves: list[str] = []
    _collect_leaves(value, scalars, leaves)
    # No word spans a line break, so all texts can be tokenized in one call.
    return tokens("\n".join(leaves))


def node_words(id: str, type: str | None, properties: str, data: str | None) -> dict[str, float]:
    """Every word of a node with its weight, and a marker for each address it contains."""
    weights = dict.fromkeys(id_tokens(id), ID_WEIGHT)
    if type:
        _add(weights, _type_tokens(type), TYPE_WEIGHT)
    if properties != "{}":
        _add_json(weights, properties, PROPERTY_WEIGHT, scalars=False)
    if data is not None:
        _add_json(weights, data, DATA_WEIGHT, scalars=True)
    return weights


def _add_json(weights: dict[str, float], text: str, weight: float, *, scalars: bool) -> None:
    value = from_text(text)
    for word in json_tokens(value, scalars):
        weights[word] = weights.get(word, 0.0) + weight
    if "@(" in text:
        _mark_addresses(weights, value)


@lru_cache(maxsize=1024)
def _type_tokens(type: str) -> frozenset[str]:
    """The tokens of a type, cached: there are few types."""
    return frozenset(tokens(type))


def _weighted_texts(properties: str, data: str | None) -> list[tuple[str, float, bool]]:
    """The JSON texts of a node, with the weight of their words and whether numbers count as words."""
    places = [] if properties == "{}" else [(properties, PROPERTY_WEIGHT, False)]
    return places if data is None else [*places, (data, DATA_WEIGHT, True)]


def query_word_weights(
    asked: Collection[str], id: str, type: str | None, properties: str, data: str | None
) -> dict[str, float]:
    """The weights that `node_words` gives to these words, without tokenizing texts that cannot contain them."""
    weights: dict[str, float] = {}
    _add(weights, id_tokens(id).intersection(asked), ID_WEIGHT)
    _add(weights, tokens(type).intersection(asked) if type else (), TYPE_WEIGHT)
    for text, weight, scalars in _weighted_texts(properties, data):
        if _may_contain(text, asked, scalars):
            _add(weights, json_tokens(from_text(text), scalars).intersection(asked), weight)
    return weights


def max_word_weight(word: str, id: str, type: str | None, properties: str, data: str | None) -> float:
    """An upper bound of a query word's weight in a node, without tokenizing its JSON."""
    weight = ID_WEIGHT if word in id.lower() or not id.isascii() else 0.0
    if type and word in _type_tokens(type):
        weight += TYPE_WEIGHT
    if not properties.isascii() or word in properties.lower():
        weight += PROPERTY_WEIGHT
    if data is not None and _may_contain(data, (word,), scalars=True):
        weight += DATA_WEIGHT
    return weight


def _may_contain(text: str, words: Iterable[str], scalars: bool) -> bool:
    """Whether any of the words may occur in this JSON text; no false negatives."""
    if not text.isascii():
        return True  # normalisation may produce words that are not substrings of the text
    lower = text.lower()
    # The JSON spelling of a number may differ from Python's `str`.
    return any(word in lower or (scalars and not word.isalpha()) for word in words)


def reference_words(properties: str) -> dict[str, float]:
    """Markers for the addresses in the properties of an edge; edges are not searched by text."""
    weights: dict[str, float] = {}
    if "@(" in properties:
        _mark_addresses(weights, from_text(properties))
    return weights


def content_words(text: str) -> dict[str, float]:
    """The first words of a content, with their weight."""
    begin = text if len(text) <= MAX_INDEXED_CONTENT_CHARS else _drop_last_word(text[:MAX_INDEXED_CONTENT_CHARS])
    found = dict.fromkeys(_words_and_parts(split_words(begin)))
    return dict.fromkeys(islice(found, MAX_CONTENT_WORDS), CONTENT_WEIGHT)


def _drop_last_word(text: str) -> str:
    """A truncated text without its last word, which may be incomplete."""
    last = WORD.match(text[::-1])
    return text if last is None else text[: -last.end()]


def _words_and_parts(words: Iterable[str]) -> Iterator[str]:
    """Each word before its parts, in the order of the text."""
    for word in dict.fromkeys(words):
        yield word
        yield from word_parts(word)


def reference_word(id: str) -> str:
    """The marker word for references to an element."""
    return f"@({id})"


def _add(weights: dict[str, float], words: Iterable[str], weight: float) -> None:
    for word in words:
        weights[word] = weights.get(word, 0.0) + weight


def _mark_addresses(weights: dict[str, float], value: Json) -> None:
    for _, address in find_addresses(value):
        weights.setdefault(reference_word(address.id), 0.0)


def rarity(total: int, matching: int) -> float:
    """Inverse document frequency, rounded to a multiple of `UNIT`, so that sums are exact."""
    return round(math.log(1.0 + total / matching) / UNIT) * UNIT if matching else 0.0


def relevance(weights: Mapping[str, float], rarities: Mapping[str, float]) -> float:
    """The score of a node: rarity times weight, summed over the words of the query."""
    return math.fsum(rarity * weights.get(word, 0.0) for word, rarity in rarities.items())
