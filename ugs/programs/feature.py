"""Stored programs as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.programs import commands, events
from ugs.programs.model import TABLES

PROGRAM = Feature(name="programs", tables=TABLES, reducers=events.REDUCERS, deciders=commands.DECIDERS)
