"""Webhooks as a feature of the kernel."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.webhooks import commands, events
from ugs.webhooks.model import TABLES

WEBHOOKS_FEATURE = Feature(name="webhooks", tables=TABLES, reducers=events.REDUCERS, deciders=commands.DECIDERS)
