"""An extractor without a model: plain English sentences of a few fixed forms. The same text gives the same claims."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ugs.extraction.commands import Claim
from ugs.extraction.extractors import ExtractorOptions

ENTITY_VERBS = ("lives in", "works at", "works for", "moved to", "knows", "reports to")
VALUE_VERBS = ("prefers", "likes", "dislikes", "speaks", "owns", "is")
NAME = r"[^\W\d_a-z]\w*(?: [^\W\d_a-z]\w*){0,3}"
REST = r"(?:(?!, | and [^\W\d_a-z])[^.!?;\n]){1,200}"
"""To the end of the sentence, or to where the next one begins after a comma or `and`."""
SENTENCE = re.compile(rf"\b({NAME}) ({'|'.join((*ENTITY_VERBS, *VALUE_VERBS))}) ({REST})")
MAX_CLAIMS = 32


class PatternExtractor:
    """Finds `Alice prefers green tea` and the like."""

    name = "patterns"

    def __init__(self, options: ExtractorOptions) -> None:
        del options  # it needs none

    def extract(self, text: str, predicates: Sequence[str]) -> list[Claim]:
        found = []
        for match in SENTENCE.finditer(text):
            subject, verb, rest = match.groups()
            is_entity = verb in ENTITY_VERBS
            if rest.strip():
                found.append(Claim(subject, verb, rest.strip(), match[0].rstrip(), is_entity))
        return found[:MAX_CLAIMS]
