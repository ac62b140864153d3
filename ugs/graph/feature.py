"""The graph as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.graph import batches, commands, events
from ugs.graph.model import TABLES
from ugs.graph.quick import QUICK

GRAPH = Feature(
    name="graph",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={**commands.DECIDERS, **batches.DECIDERS},
    quick=QUICK,
    together=batches.TOGETHER,
    elements=events.ELEMENTS,
    versioned=events.VERSIONED,
    version_of=events.version_of,
    storing=events.STORING,
    prepare_group=batches.prepare_group,
    prepare_replay=events.prepare_replay,
)
