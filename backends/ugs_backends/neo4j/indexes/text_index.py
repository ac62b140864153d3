"""Substring search: a text index for rows with short texts, and a label for the others.

Neo4j rejects a write whose text is too long for a text index. So only rows with shorter texts have the indexed label;
the few with longer ones have another, and are tested one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ugs_backends.neo4j.cypher_fragments import Condition
from ugs_backends.neo4j.layout import Layout

MAX_INDEXED_LENGTH = 8_000
"""Maximum of indexed characters; a text index accepts 32,766 bytes."""
TRIGRAM = 3
"""Shorter substrings contain no trigram and cannot use the index."""
LABEL_BATCH_ROWS = 10_000


def label_lengths(layout: Layout) -> str:
    """The end of a statement that writes rows `n`: sets the labels for the lengths of their texts."""
    return "".join(_list_length_labels(layout))


def _list_length_labels(layout: Layout) -> Iterator[str]:
    for name, (short, long) in layout.searched.items():
        size = f"size(n.{layout.columns[name]})"
        for test, label in ((f"{size} <= {MAX_INDEXED_LENGTH}", short), (f"{size} > {MAX_INDEXED_LENGTH}", long)):
            yield f" FOREACH (_ IN CASE WHEN {test} THEN [1] ELSE [] END | SET n:{label})"


def remove_length_labels(layout: Layout) -> str:
    """The clause that removes these labels from rows `n` before their texts change."""
    labels = [f"n:{label}" for pair in layout.searched.values() for label in pair]
    return f" REMOVE {', '.join(labels)}" if labels else ""


def label_all_lengths(layout: Layout) -> str:
    """The statement that labels the rows stored before the index existed."""
    relabel = f"CALL (n) {{ WITH n{remove_length_labels(layout)}{label_lengths(layout)} }}"
    return f"MATCH (n:{layout.label}) {relabel} IN TRANSACTIONS OF {LABEL_BATCH_ROWS} ROWS"


def find_by_text(layout: Layout, name: str, condition: Condition) -> str:
    """The rows `n` that meet a condition on a searched column: from the index, and from the unindexed rows."""
    each = [f"MATCH (n:{label}) WHERE {condition.text} RETURN n" for label in layout.searched[name]]
    return f"CALL () {{ {' UNION ALL '.join(each)} }}"
