"""Everything that answers an endpoint: importing this module fills `ANSWERS`."""

from __future__ import annotations

from ugs.programs.endpoints import ANSWERS
from ugs.programs.endpoints.concepts import batch, details, related
from ugs.programs.endpoints.searching import search_concepts, search_sources
from ugs.programs.endpoints.vocabulary import status

ANSWERS.update(
    {
        "/search/concepts": search_concepts,
        "/search/sources": search_sources,
        "/vocabulary/status": status,
        "/concepts/batch": batch,
        "/concepts/details": details,
        "/concepts/related": related,
    }
)
