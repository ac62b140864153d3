"""One JSON object a line: `{"kind":"node",…}`, `{"kind":"edge",…}`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from ugs.exchange.items import EDGE, NODE, Format, Item, Record, Writer, item_of, misread
from ugs.values import to_text


class LineWriter(Writer):
    """An item a line."""

    def write_node(self, node: Record) -> None:
        self.out.write(to_text({"kind": NODE, **node}) + "\n")

    def write_edge(self, edge: Record) -> None:
        self.out.write(to_text({"kind": EDGE, **edge}) + "\n")


def read(lines: TextIO) -> Iterator[Item]:
    """Items of the lines; empty lines are passed over."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"line {number}"
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise misread(where, error) from error
            yield item_of(record, where)


FORMAT = Format("ndjson", LineWriter, read)
