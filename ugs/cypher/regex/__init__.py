"""`=~`: regular expressions on a machine whose time grows with the text only, whatever the pattern.

There are no back-references and no looking around, which is what makes that possible; a pattern that needs them is
refused. Machines are kept, so a condition on many rows builds its machine once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ugs.cypher.regex.machine import Machine
from ugs.cypher.regex.reading import read_pattern


@lru_cache(maxsize=128)
def machine_for(pattern: str) -> Machine:
    return Machine(read_pattern(pattern))


def matches(text: str, pattern: str, tick: Callable[[int], None] = lambda count: None) -> bool:
    """Whether the whole text fits the pattern; `tick` hears of the work and may stop it."""
    return machine_for(pattern).matches(text, tick)
