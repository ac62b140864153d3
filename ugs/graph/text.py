"""Words: how nodes and queries are cut into tokens, and how matches are ranked.

One function serves both sides, so that whatever is stored can be found by typing it. Weights say where a word
stood: in the id, the type, a property, the data or the content. Addresses are words too (weight 0), which gives
back-references.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from ugs.reads.weighed import UNIT
from ugs.values import Json, find_addresses, from_text

WORD = re.compile(r"[\w-]+")
PART = re.compile(r"[^\W_]+")
LONGEST_WORD = 128
_PLAIN = "".join(char.lower() if WORD.match(char) else " " for char in map(chr, range(128)))
"""ASCII with everything between words as a space: cut there, it takes less time than to look for words."""
ID_WEIGHT, TYPE_WEIGHT, PROPERTY_WEIGHT, DATA_WEIGHT, CONTENT_WEIGHT = 4.0, 2.0, 1.0, 0.5, 0.5
LONGEST_CONTENT = 64 << 10
"""So many characters of a content are cut into words."""
MOST_CONTENT_WORDS = 4_096
"""So many different words of a content are kept, so that no book outweighs everything else in an index."""


def folded(text: str) -> str:
    """Text in the form in which it is compared: compatibility-composed, case folded."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def split_words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits, `_` and `-`."""
    words: list[str] = text.translate(_PLAIN).split() if text.isascii() else WORD.findall(folded(text))
    return words if len(text) <= LONGEST_WORD else [word for word in words if len(word) <= LONGEST_WORD]


def word_parts(word: str) -> list[str]:
    """The pieces of a word around its `_` and `-`; none when the word is one piece already."""
    return [] if word.isalnum() else PART.findall(word)


def tokens(text: str) -> set[str]:
    """Words and their parts."""
    found = set(split_words(text))
    if "_" in text or "-" in text or not text.isascii():  # else every word is one piece
        for word in tuple(found):
            if not word.isalnum():
                found.update(PART.findall(word))
    return found


def id_tokens(id: str) -> set[str]:
    """The tokens of an id, and the id as a whole; of most ids they can be told by eye."""
    low = id.lower()
    plain = low.replace("-", "_")
    if not plain.isidentifier() or not plain.isascii() or len(plain) > LONGEST_WORD:
        return {low, *tokens(id)}
    return {low} if low.isalnum() else {low, *filter(None, plain.split("_"))}


def text_leaves(value: Json, scalars: bool = False) -> list[str]:
    """Strings at any depth of a value; with `scalars` also numbers and booleans as JSON writes them."""
    leaves: list[str] = []
    _gather(value, scalars, leaves)
    return leaves


def _gather(value: Json, scalars: bool, leaves: list[str]) -> None:
    # Every text that is ever stored comes by here, hence so little is called.
    kind = type(value)
    if kind is str:
        leaves.append(value)
    elif kind is dict or kind is list:
        for item in value.values() if kind is dict else value:
            if type(item) is str:
                leaves.append(item)
            else:
                _gather(item, scalars, leaves)
    elif scalars and value is not None:
        leaves.append(str(value).lower() if kind is bool else str(value))


def json_tokens(value: Json, scalars: bool) -> set[str]:
    """The tokens of all texts inside a value."""
    leaves: list[str] = []
    _gather(value, scalars, leaves)
    # No word reaches over a line break, so the texts can be cut in one go.
    return tokens("\n".join(leaves))


def node_words(id: str, type: str | None, properties: str, data: str | None) -> dict[str, float]:
    """Every word of a node with its weight, and a marker for each address it mentions."""
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
    """The tokens of a type; types are few."""
    return frozenset(tokens(type))


def _places(properties: str, data: str | None) -> list[tuple[str, float, bool]]:
    """The JSON of a node with the weight of its words, and whether numbers count as words."""
    places = [] if properties == "{}" else [(properties, PROPERTY_WEIGHT, False)]
    return places if data is None else [*places, (data, DATA_WEIGHT, True)]


def asked_words(
    asked: Collection[str], id: str, type: str | None, properties: str, data: str | None
) -> dict[str, float]:
    """The weights that `node_words` gives to these words, without cutting texts that cannot contain them."""
    weights: dict[str, float] = {}
    _add(weights, id_tokens(id).intersection(asked), ID_WEIGHT)
    _add(weights, tokens(type).intersection(asked) if type else (), TYPE_WEIGHT)
    for text, weight, scalars in _places(properties, data):
        if _may_contain(text, asked, scalars):
            _add(weights, json_tokens(from_text(text), scalars).intersection(asked), weight)
    return weights


def most_weight(word: str, id: str, type: str | None, properties: str, data: str | None) -> float:
    """The most that a word of a query may weigh in a node, told without cutting texts."""
    weight = ID_WEIGHT if word in id.lower() or not id.isascii() else 0.0
    if type and word in _type_tokens(type):
        weight += TYPE_WEIGHT
    if not properties.isascii() or word in properties.lower():
        weight += PROPERTY_WEIGHT
    if data is not None and _may_contain(data, (word,), scalars=True):
        weight += DATA_WEIGHT
    return weight


def _may_contain(text: str, words: Iterable[str], scalars: bool) -> bool:
    """False when none of the words can stand in this JSON text."""
    if not text.isascii():
        return True  # composing characters may make words that are not there letter by letter
    lower = text.lower()
    # JSON writes some numbers in other digits than we do.
    return any(word in lower or (scalars and not word.isalpha()) for word in words)


def reference_words(properties: str) -> dict[str, float]:
    """Markers for the addresses in the properties of an edge; edges are not searched by text."""
    weights: dict[str, float] = {}
    if "@(" in properties:
        _mark_addresses(weights, from_text(properties))
    return weights


def content_words(text: str) -> dict[str, float]:
    """The words that come first in a content, with their weight."""
    begin = text if len(text) <= LONGEST_CONTENT else _without_last_word(text[:LONGEST_CONTENT])
    found = dict.fromkeys(_words_and_parts(split_words(begin)))
    return dict.fromkeys(islice(found, MOST_CONTENT_WORDS), CONTENT_WEIGHT)


def _without_last_word(text: str) -> str:
    """A text that was cut off somewhere, without the piece of a word at its end, which would be another word."""
    last = WORD.match(text[::-1])
    return text if last is None else text[: -last.end()]


def _words_and_parts(words: Iterable[str]) -> Iterator[str]:
    """Each word before its parts, in the order of the text."""
    for word in dict.fromkeys(words):
        yield word
        yield from word_parts(word)


def reference_word(id: str) -> str:
    """The marker under which mentions of an element are found."""
    return f"@({id})"


def _add(weights: dict[str, float], words: Iterable[str], weight: float) -> None:
    for word in words:
        weights[word] = weights.get(word, 0.0) + weight


def _mark_addresses(weights: dict[str, float], value: Json) -> None:
    for _, address in find_addresses(value):
        weights.setdefault(reference_word(address.id), 0.0)


def rarity(total: int, matching: int) -> float:
    """Inverse document frequency: the rarer a word, the more it says. In units that can be added up exactly."""
    return round(math.log(1.0 + total / matching) / UNIT) * UNIT if matching else 0.0


def relevance(weights: Mapping[str, float], rarities: Mapping[str, float]) -> float:
    """How well a node answers: rarity times place, summed over the words of the query."""
    return math.fsum(rarity * weights.get(word, 0.0) for word, rarity in rarities.items())
