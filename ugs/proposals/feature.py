"""Proposed facts as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.proposals import commands, events
from ugs.proposals.model import TABLES

PROPOSAL = Feature(
    name="proposals",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders=commands.DECIDERS,
    elements=events.ELEMENTS,
    audiences=events.audiences_of,
    inert=frozenset(events.ELEMENTS),
    after_restoring=commands.refresh_restored,
)
