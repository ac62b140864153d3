"""Everything that answers an endpoint: importing this module fills `ANSWERS`."""

from __future__ import annotations
