"""The vectors feature: tables only, because vectors are derived from events of other features."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.vectors.model import TABLES

VECTORS = Feature(name="vectors", tables=TABLES, reducers={}, deciders={})
