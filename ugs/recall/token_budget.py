"""Token counts, and the items that fit a budget.

The default estimate is one token per three bytes of UTF-8, rounded up: more than common tokenizers count for English
and for most other scripts. A tokenizer of the entry-point group `ugs.tokenizers`, named by `UGS_TOKENIZER`, counts
exactly; it is a function from text to a number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from ugs.errors import InvalidSyntax
from ugs.recall.model import RecallItem
from ugs.support.entry_points import declared, load

GROUP = "ugs.tokenizers"
SETTING = "UGS_TOKENIZER"
BYTES_PER_TOKEN = 3
SEPARATOR_TOKENS = 1

CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """The documented estimate: a third of the bytes, rounded up."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def token_counter() -> CountTokens:
    """The configured tokenizer, or the estimate."""
    name = os.environ.get(SETTING)
    return _load_counter(name) if name else estimate_tokens


@cache
def _load_counter(name: str) -> CountTokens:
    value = declared(GROUP).get(name)
    if value is None:
        known = ", ".join(sorted(declared(GROUP))) or "none"
        raise InvalidSyntax(f"there is no tokenizer {name!r}: installed are {known}", tokenizer=name)
    return cast(CountTokens, load(value))


def fit_budget(items: Sequence[RecallItem], budget: int, first: int) -> tuple[list[RecallItem], int]:
    """The items in their order that fit together, at most `first`, and their tokens; an item too large is skipped."""
    count, chosen, used = token_counter(), list[RecallItem](), 0
    for item in items:
        if len(chosen) == first:
            break
        tokens = count(item.line) + SEPARATOR_TOKENS
        if used + tokens <= budget:
            chosen.append(item)
            used += tokens
    return chosen, used
