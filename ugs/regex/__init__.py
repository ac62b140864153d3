"""Regular expressions in linear time: one automaton for every dialect that the gateway reads.

A dialect parses its own syntax into the tree of `nfa`; what a pattern may cost is bounded there, for all of them.
"""

from __future__ import annotations

from ugs.regex.nfa import ANY, Chain, Choice, Edge, Machine, One, Part, PatternTooLarge, Repeat, Test, build_set_test

__all__ = [
    "ANY",
    "Chain",
    "Choice",
    "Edge",
    "Machine",
    "One",
    "Part",
    "PatternTooLarge",
    "Repeat",
    "Test",
    "build_set_test",
]
