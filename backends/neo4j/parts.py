"""Parts of texts: a text index over the rows whose texts it can hold, and a mark on the others.

Neo4j refuses a write whose text is too long for a text index. So only rows with shorter texts wear the label that is
indexed; the few with longer ones wear another, and are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from backends.neo4j.conditions import Condition
from backends.neo4j.layout import Layout

LONGEST = 8_000
"""Characters; a text index takes 32,766 bytes."""
TRIGRAM = 3
"""Shorter parts have nothing that the index could find."""
MARKED_AT_ONCE = 10_000


def marking(layout: Layout) -> str:
    """The end of a statement that stores rows `n`: each gets the labels that its texts ask for."""
    return "".join(_marks(layout))


def _marks(layout: Layout) -> Iterator[str]:
    for name, (short, long) in layout.searched.items():
        size = f"size(n.{layout.columns[name]})"
        for test, label in ((f"{size} <= {LONGEST}", short), (f"{size} > {LONGEST}", long)):
            yield f" FOREACH (_ IN CASE WHEN {test} THEN [1] ELSE [] END | SET n:{label})"


def unmarking(layout: Layout) -> str:
    """The part of a statement that takes the labels off rows `n`, before their texts change."""
    labels = [f"n:{label}" for pair in layout.searched.values() for label in pair]
    return f" REMOVE {', '.join(labels)}" if labels else ""


def marking_all(layout: Layout) -> str:
    """The statement for rows that were stored before there was an index."""
    each = f"CALL (n) {{ WITH n{unmarking(layout)}{marking(layout)} }} IN TRANSACTIONS OF {MARKED_AT_ONCE} ROWS"
    return f"MATCH (n:{layout.label}) {each}"


def found(layout: Layout, name: str, condition: Condition) -> str:
    """The rows `n` that meet a condition on a searched column, by the index and among those that are not in it."""
    each = [f"MATCH (n:{label}) WHERE {condition.text} RETURN n" for label in layout.searched[name]]
    return f"CALL () {{ {' UNION ALL '.join(each)} }}"
