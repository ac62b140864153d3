"""`=~`: regular expressions on a machine whose time grows with the text only, whatever the pattern.

Placeholder for the machine; see below.
"""

from __future__ import annotations

import re


def matches(text: str, pattern: str) -> bool:
    return re.fullmatch(pattern, text) is not None
