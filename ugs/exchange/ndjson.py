"""NDJSON: one JSON object per line, `{"kind":"node",…}` or `{"kind":"edge",…}`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from ugs.exchange.base import EDGE, NODE, Format, Item, Record, Writer, invalid_json, item_of
from ugs.values import to_text


class LineWriter(Writer):
    """Writes one line per item."""

    def write_node(self, node: Record) -> None:
        self.out.write(to_text({"kind": NODE, **node}) + "\n")

    def write_edge(self, edge: Record) -> None:
        self.out.write(to_text({"kind": EDGE, **edge}) + "\n")


def read_items(lines: TextIO) -> Iterator[Item]:
    """The items of the lines; empty lines are skipped."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"line {number}"
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise invalid_json(where, error) from error
            yield item_of(record, where)


FORMAT = Format("ndjson", LineWriter, read_items)
