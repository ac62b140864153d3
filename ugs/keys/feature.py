"""API keys as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.keys import commands, events
from ugs.keys.model import TABLES

KEYS = Feature(name="keys", tables=TABLES, reducers=events.REDUCERS, deciders=commands.DECIDERS)
