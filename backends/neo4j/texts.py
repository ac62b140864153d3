"""Texts of columns, stored so that Neo4j orders them by code point.

Neo4j compares UTF-16 units, which puts characters beyond U+FFFF before those from U+E000 on. Storing U+FFFF in front
of each such character (and U+FFFF itself as U+FFFF U+0000, which no stored text contains) makes both orders agree and
keeps equality, prefixes, suffixes and substrings. Texts without such characters, nearly all, are stored as they are.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile("[\uffff\U00010000-\U0010ffff]")
_MARKED = re.compile("\uffff(.)", re.DOTALL)


def to_ordered(text: str) -> str:
    """The text as it is stored."""
    return text if text.isascii() else _SPECIAL.sub(_mark, text)


def from_ordered(stored: str) -> str:
    """The text behind a stored one."""
    return stored if stored.isascii() or "\uffff" not in stored else _MARKED.sub(_unmark, stored)


def _mark(match: re.Match[str]) -> str:
    return "\uffff\x00" if match[0] == "\uffff" else "\uffff" + match[0]


def _unmark(match: re.Match[str]) -> str:
    return "\uffff" if match[1] == "\x00" else match[1]


def same_order_everywhere(text: str) -> bool:
    """Whether comparing with this text gives the same answer by UTF-16 unit as by code point."""
    return text.isascii() or max(text) < "\ud800"
