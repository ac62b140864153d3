"""One JSON document `{"nodes":[…],"edges":[…]}`, as in the seed's fixtures, read without holding it whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from ugs.errors import InvalidSyntax
from ugs.exchange.items import Format, Item, Record, Writer, item_of, misread
from ugs.values import to_text

CHUNK = 1 << 16
LISTS = ("nodes", "edges")
SHAPE = '{"nodes":[…],"edges":[…]}'
SPACE = " \t\r\n"


class DocumentWriter(Writer):
    """Two lists in one object, an item a line."""

    head = '{"nodes":['

    def write_node(self, node: Record) -> None:
        self.out.write(("," if self.nodes else "") + "\n" + to_text(node))

    def write_edge(self, edge: Record) -> None:
        self.out.write(("," if self.edges else '\n],"edges":[') + "\n" + to_text(edge))

    def end(self) -> None:
        self.out.write("\n]}\n" if self.edges else '\n],"edges":[]}\n')


def read(text: TextIO) -> Iterator[Item]:
    """Items of the two lists; other keys of the document are passed over."""
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
    """JSON values one after the other, from a text that is read in pieces."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._held = ""
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next sign that is no space; empty at the end."""
        self._held = self._held.lstrip(SPACE)
        while not self._held and self._more():
            self._held = self._held.lstrip(SPACE)
        return self._held[:1]

    def expect(self, sign: str) -> None:
        """Step over a sign that must come now."""
        found = self.peek()
        if found != sign:
            raise InvalidSyntax(f"{sign} expected, found {found or 'the end'!r}: a graph is {SHAPE}")
        self._held = self._held[1:]

    def value(self) -> Any:
        """The next value, whole; more is read until it is."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held)
            except RecursionError as error:
                raise misread("document", error) from error
            except ValueError as error:
                if not self._more():
                    raise misread("document", error) from error
                continue
            # A number may go on in the next piece.
            if end < len(self._held) or not self._more():
                self._held = self._held[end:]
                return value

    def _more(self) -> bool:
        # As much again as is held, so that a large value is not tried too often.
        piece = self._text.read(max(CHUNK, len(self._held)))
        self._held += piece
        return bool(piece)


FORMAT = Format("json", DocumentWriter, read)
