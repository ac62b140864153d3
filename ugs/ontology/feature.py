"""Ontologies and content as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.ontology import defining, events, importing, preparing, remembering, reviewing
from ugs.ontology.model import TABLES

ONTOLOGY = Feature(
    name="ontology",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders={**defining.DECIDERS, **remembering.DECIDERS, **importing.DECIDERS},
    prepare_group=preparing.prepare_group,
    prepare_replay=preparing.prepare_replay,
    review=reviewing.review,
    unconcerned=reviewing.unconcerned,
)
