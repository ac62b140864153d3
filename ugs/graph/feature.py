"""The graph as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.graph import batches, commands, events, undo
from ugs.graph.fast_adds import FAST_DECIDERS
from ugs.graph.model import TABLES

GRAPH = Feature(
    name="graph",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={**commands.DECIDERS, **batches.DECIDERS, **undo.DECIDERS},
    fast_deciders=FAST_DECIDERS,
    batch_deciders=batches.BATCH_DECIDERS,
    elements=events.ELEMENTS,
    versioned=events.VERSIONED,
    version_of=events.version_of,
    bulk_replay=events.BULK_REPLAY,
    prepare_group=batches.prepare_group,
    prepare_replay=events.prepare_replay,
    open_events=frozenset(events.REDUCERS),
)
