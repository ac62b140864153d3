"""Answers that need neither the kernel nor an open store: a small store is read in passing and the answer said.

Only what is plain is answered here: a question from the table, on a store named by an option, by UGS_STORE or nobody,
without other settings. The store's own backend decides whether a glance is enough (`ugs.glances`). Everything else,
and every doubt, goes the ordinary way, which answers the same to the letter. A test watches what is loaded here.
"""

from __future__ import annotations

import os

from gateway.cli.speaking import FLAGS, HUMAN, PREFERENCES, choose_mode, counts_in_words
from gateway.stores import DEFAULT_FILE, DEFAULT_STORE, store_in
from ugs.glances import glance_at
from ugs.graph.glimpse import CONFIG_NODE, Glimpse
from ugs.plain_json import compact

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COUNTS = "stats"
QUESTIONS = frozenset({COUNTS, "get", "list", "properties", "roots"})
"""What a glance can answer; all but the counts with the operations' own code, and so a little later."""
STORES = ("--store", "--backend", "--data-dir")
STORE_VARIABLE = "UGS_STORE"
HARMLESS = frozenset({STORE_VARIABLE, "UGS_ACTOR", "UGS_TOKEN", "UGS_HISTORY"})
"""Variables of ours that are looked at here, or have no say in a question to a store."""


class Question:
    """What was typed, where it is one of the questions."""

    __slots__ = ("flag", "store", "words")

    def __init__(self, words: list[str], store: str | None, flag: str | None) -> None:
        self.words, self.store, self.flag = words, store, flag


def quick_answer(words: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The answer to what was typed; None when it takes more than a glance."""
    question = _question(list(words))
    if question is None or not _is_plain(environ):
        return None
    seen = glance_at(question.store or environ.get(STORE_VARIABLE, DEFAULT_STORE))
    if seen is None:
        return None
    try:
        return _told(question, Glimpse(seen), environ)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None  # an event that is not known here, or not as it should be


def _question(words: list[str]) -> Question | None:
    """The question in the words, with the store and the voice that they name."""
    stores, flag, left = list[str](), None, list[str]()
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in STORES and (equals or words):
            value = value if equals else words.pop(0)
            stores.append(store_in(value) if name == "--data-dir" else value)
        elif word in FLAGS:
            flag = FLAGS[word]
        else:
            left.append(word)
    if not left or left[0] not in QUESTIONS or "--" in left or len(stores) > 1:
        return None
    return Question(left, stores[0] if stores else None, flag)


def _is_plain(environ: Mapping[str, str]) -> bool:
    """Whether no settings have to be read and checked."""
    ours = {name for name in environ if name.startswith("UGS_")}
    return ours <= HARMLESS and not os.path.exists(DEFAULT_FILE)


def _told(question: Question, graph: Glimpse, environ: Mapping[str, str]) -> str | None:
    prefs, config = graph.properties_of(PREFERENCES), graph.properties_of(CONFIG_NODE)
    mode = choose_mode(question.flag, prefs, config, environ)
    if question.words == [COUNTS]:
        stats = graph.stats()
        return counts_in_words(stats) if mode == HUMAN else compact(stats)
    from gateway.cli.passing import answered_in_passing

    return answered_in_passing(question.words, graph, mode)
