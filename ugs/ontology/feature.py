"""Ontologies and content as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.ontology import enforcement, events, prefetch
from ugs.ontology.commands import import_memory, memory, node_tree, ontologies
from ugs.ontology.model import TABLES

ONTOLOGY = Feature(
    name="ontology",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={**ontologies.DECIDERS, **memory.DECIDERS, **node_tree.DECIDERS, **import_memory.DECIDERS},
    prepare_group=prefetch.prepare_group,
    prepare_replay=prefetch.prepare_replay,
    review=enforcement.review,
    review_is_noop=enforcement.review_is_noop,
    open_events=frozenset(events.REDUCERS),
    records=(events.RECORD_KIND,),
)
