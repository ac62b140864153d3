"""One JSON document `{"nodes":[…],"edges":[…]}`, as in the seed's fixtures, read as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from ugs.errors import InvalidSyntax
from ugs.exchange.base import Format, Item, Record, Writer, invalid_json, item_of
from ugs.values import to_text

CHUNK_CHARS = 1 << 16
LISTS = ("nodes", "edges")
DOCUMENT_SHAPE = '{"nodes":[…],"edges":[…]}'
SPACE = " \t\r\n"


class DocumentWriter(Writer):
    """Writes two lists in one object, one item per line."""

    head = '{"nodes":['

    def write_node(self, node: Record) -> None:
        self.out.write(("," if self.nodes else "") + "\n" + to_text(node))

    def write_edge(self, edge: Record) -> None:
        self.out.write(("," if self.edges else '\n],"edges":[') + "\n" + to_text(edge))

    def end(self) -> None:
        self.out.write("\n]}\n" if self.edges else '\n],"edges":[]}\n')


def read_items(text: TextIO) -> Iterator[Item]:
    """The items of the two lists; other keys of the document are skipped. Memory is bounded by the largest item."""
    scanner = Scanner(text)
    scanner.expect("{")
    while scanner.peek() != "}":
        key = scanner.value()
        scanner.expect(":")
        if key in LISTS:
            yield from _items(scanner, key)
        else:
            scanner.value()
        if scanner.peek() != "}":
            scanner.expect(",")
    scanner.expect("}")


def _items(scanner: Scanner, key: str) -> Iterator[Item]:
    scanner.expect("[")
    number = 0
    while scanner.peek() != "]":
        yield item_of(scanner.value(), f"{key}[{number}]")
        number += 1
        if scanner.peek() != "]":
            scanner.expect(",")
    scanner.expect("]")


class Scanner:
    """A pull parser for the JSON values of a text that is read in chunks."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._held = ""
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        self._held = self._held.lstrip(SPACE)
        while not self._held and self._more():
            self._held = self._held.lstrip(SPACE)
        return self._held[:1]

    def expect(self, sign: str) -> None:
        """Skip a character that must come next."""
        found = self.peek()
        if found != sign:
            raise InvalidSyntax(f"{sign} expected, found {found or 'the end'!r}: a graph is {DOCUMENT_SHAPE}")
        self._held = self._held[1:]

    def value(self) -> Any:
        """Parse the next complete value, reading further chunks as needed."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held)
            except RecursionError as error:
                raise invalid_json("document", error) from error
            except ValueError as error:
                if not self._more():
                    raise invalid_json("document", error) from error
                continue
            # A number may go on in the next piece.
            if end < len(self._held) or not self._more():
                self._held = self._held[end:]
                return value

    def _more(self) -> bool:
        # As much again as is held, so that a large value is not tried too often.
        piece = self._text.read(max(CHUNK_CHARS, len(self._held)))
        self._held += piece
        return bool(piece)


FORMAT = Format("json", DocumentWriter, read_items)
