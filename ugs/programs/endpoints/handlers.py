"""Imports every endpoint handler, which registers it."""

from __future__ import annotations

from ugs.programs.endpoints import HANDLERS
from ugs.programs.endpoints.concepts import batch, details, related
from ugs.programs.endpoints.search import search_concepts, search_sources
from ugs.programs.endpoints.vocabulary import status

HANDLERS.update(
    {
        "/search/concepts": search_concepts,
        "/search/sources": search_sources,
        "/vocabulary/status": status,
        "/concepts/batch": batch,
        "/concepts/details": details,
        "/concepts/related": related,
    }
)
