"""Encodes texts so that Neo4j orders them by code point.

Neo4j compares UTF-16 units, which puts characters beyond U+FFFF before those from U+E000 on. Storing U+FFFF in front
of each such character (and U+FFFF itself as U+FFFF U+0000, which no stored text contains) makes both orders agree and
preserves equality, prefixes, suffixes and substrings. Texts without such characters, nearly all, are stored unchanged.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile("[\uffff\U00010000-\U0010ffff]")
_MARKED = re.compile("\uffff(.)", re.DOTALL)


def to_ordered(text: str) -> str:
    """Encode a text for storage."""
    return text if text.isascii() else _SPECIAL.sub(_escape, text)


def from_ordered(stored: str) -> str:
    """Decode a stored text."""
    return stored if stored.isascii() or "\uffff" not in stored else _MARKED.sub(_unescape, stored)


def _escape(match: re.Match[str]) -> str:
    return "\uffff\x00" if match[0] == "\uffff" else "\uffff" + match[0]


def _unescape(match: re.Match[str]) -> str:
    return "\uffff" if match[1] == "\x00" else match[1]


def has_portable_order(text: str) -> bool:
    """Whether comparisons with this text give the same result by UTF-16 unit as by code point."""
    return text.isascii() or max(text) < "\ud800"
