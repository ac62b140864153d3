"""The index terms of facts, notes and entities, and the terms of a question.

A text is indexed by prefixes of its words: a question finds `login` by `log` and `preferences` by `prefers` with one
look-up per word. Case, accents and Unicode composition make no difference. The stemmer runs on questions only, so
changing it needs no new index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from ugs.graph.text.tokenizer import PART, folded, split_words

PREFIX_SIZES = (3, 4, 6)
PREFIX_MARK = "*"
"""Ends the index term of a prefix; no word contains it."""
MAX_INDEXED_CHARS = 64 << 10
MAX_INDEXED_WORDS = 4_096
MAX_WORD_CHARS = 128
MIN_STEM_CHARS = 3
STOP_WORDS = frozenset(
    split_words(
        "a about after all also am an and any are as at be been before being but by can could did do does for from "
        "had has have he her him his how i if in into is it its me my no not of on or our she should so some such "
        "tell than that the their them then there these they this those to too us was we were what when where which "
        "who whom whose why will with would you your"
    )
)
VOWEL = re.compile("[aeiouy]")


class Term(Struct, frozen=True):
    """A word of a question."""

    word: str
    stem: str

    @property
    def index_term(self) -> str:
        """The index term that finds every word with this stem or prefix."""
        return _index_term(self.stem if len(self.stem) >= MIN_STEM_CHARS else self.word)

    def grade(self, words: Mapping[str, str]) -> int:
        """How well one of these words (with their stems) matches: 4 itself, 3 its stem, 2 as a prefix, else 0."""
        if self.word in words:
            return 4
        if self.stem in words.values():
            return 3
        if len(self.stem) >= MIN_STEM_CHARS and any(word.startswith(self.stem) for word in words):
            return 2
        return 0


def split_terms(text: str) -> list[str]:
    """The words of a text: runs of letters and digits, folded, without accents."""
    plain = folded(text)
    if not plain.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
    return [word for word in PART.findall(plain) if len(word) <= MAX_WORD_CHARS]


def stemmed_words(text: str) -> dict[str, str]:
    """The distinct words of a text, each with its stem."""
    return {word: stem(word) for word in split_terms(text)}


def question_terms(question: str, limit: int) -> list[Term]:
    """The distinct words of a question without stop words, at most `limit`, in their order."""
    words = (word for word in dict.fromkeys(split_terms(question)) if not _is_filler(word))
    return [Term(word, stem(word)) for word in islice(words, limit)]


def _is_filler(word: str) -> bool:
    """Whether a word says nothing: a stop word, or a single Latin letter, as in `Bob's`."""
    return word in STOP_WORDS or (len(word) == 1 and word.isascii() and word.isalpha())


def index_weights(text: str | None) -> Mapping[str, float]:
    """The index terms of a text, as `Table.words` has them."""
    if not text:
        return {}
    words = islice(dict.fromkeys(split_terms(text[:MAX_INDEXED_CHARS])), MAX_INDEXED_WORDS)
    return dict.fromkeys(_prefixes(word for word in words if not _is_filler(word)), 1.0)


def _prefixes(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if len(word) < PREFIX_SIZES[0]:
            yield word
        for size in PREFIX_SIZES:
            if len(word) >= size:
                yield word[:size] + PREFIX_MARK


def _index_term(beginning: str) -> str:
    size = max((size for size in PREFIX_SIZES if size <= len(beginning)), default=0)
    return beginning[:size] + PREFIX_MARK if size else beginning


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A light English stem: without the endings of plurals, verb forms and `-e`; other words stay as they are."""
    if len(word) <= MIN_STEM_CHARS or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        start = word.removesuffix(ending)
        if start != word and len(start) >= MIN_STEM_CHARS - 1 and VOWEL.search(start):
            word = (
                start[:-1]
                if len(start) > MIN_STEM_CHARS and start[-1] == start[-2] and start[-1] not in "lsz"
                else start
            )
            break
    return word[:-1] if word.endswith("e") and len(word) > MIN_STEM_CHARS else word
