"""Extraction as a feature of the kernel."""

from __future__ import annotations

from ugs.extraction import commands, events
from ugs.extraction.model import TABLES
from ugs.feature import Feature

EXTRACTION = Feature(
    name="extraction",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders=commands.DECIDERS,
    elements=events.ELEMENTS,
    audiences=events.audiences_of,
    inert=frozenset(events.ELEMENTS),
)
