"""Vectors as a feature of the kernel: tables only, since vectors follow from events of other features."""

from __future__ import annotations

from ugs.feature import Feature
from ugs.vectors.model import TABLES

VECTORS = Feature(name="vectors", tables=TABLES, reducers={}, deciders={})
