"""The programs feature: tables, reducers and deciders of stored programs."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.programs import commands, events
from ugs.programs.model import TABLES

PROGRAM = Feature(
    name="programs",
    tables=TABLES,
    reducers=events.REDUCERS,
    deciders=commands.DECIDERS,
    audiences=commands.audiences_of,
)
