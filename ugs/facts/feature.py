"""Temporal facts as a feature of the kernel."""

from __future__ import annotations

from ugs.facts import asserting, entities, events, ingesting, merging, notes, predicates
from ugs.facts.model import TABLES
from ugs.facts.preparing import prepare_group
from ugs.feature import Feature

FACTS = Feature(
    name="facts",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={
        **entities.DECIDERS,
        **predicates.DECIDERS,
        **notes.DECIDERS,
        **asserting.DECIDERS,
        **ingesting.DECIDERS,
        **merging.DECIDERS,
    },
    elements=events.ELEMENTS,
    prepare_group=prepare_group,
    prepare_replay=events.prepare_replay,
)
