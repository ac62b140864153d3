"""Temporal facts as a feature of the kernel."""

from __future__ import annotations

from ugs.facts import events
from ugs.facts.audience import audiences_of, show_rows
from ugs.facts.commands import entities, entity_merge, facts, ingestion, notes, predicates
from ugs.facts.model import TABLES
from ugs.facts.prefetch import prepare_group
from ugs.facts.temporal.timeline import refresh_restored
from ugs.feature import Feature

FACTS = Feature(
    name="facts",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={
        **entities.DECIDERS,
        **predicates.DECIDERS,
        **notes.DECIDERS,
        **facts.DECIDERS,
        **ingestion.DECIDERS,
        **entity_merge.DECIDERS,
    },
    elements=events.ELEMENTS,
    prepare_group=prepare_group,
    prepare_replay=events.prepare_replay,
    audiences=audiences_of,
    records=events.RECORD_KINDS,
    after_restoring=refresh_restored,
    show_rows=show_rows,
)
