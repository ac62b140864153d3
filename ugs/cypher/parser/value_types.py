"""Parsing of the types of `IS ::`: `INTEGER NOT NULL`, `LIST<STRING>`, `INTEGER | FLOAT`."""

from __future__ import annotations

from ugs.cypher.parser.token_stream import Cursor
from ugs.cypher.syntax import ValueType

NAMES: dict[tuple[str, ...], str] = {
    ("NOTHING",): "NOTHING",
    ("NULL",): "NULL",
    ("BOOL",): "BOOLEAN",
    ("BOOLEAN",): "BOOLEAN",
    ("STRING",): "STRING",
    ("VARCHAR",): "STRING",
    ("INT",): "INTEGER",
    ("INTEGER",): "INTEGER",
    ("SIGNED", "INTEGER"): "INTEGER",
    ("FLOAT",): "FLOAT",
    ("DATE",): "DATE",
    ("LOCAL", "TIME"): "LOCAL TIME",
    ("TIME", "WITHOUT", "TIMEZONE"): "LOCAL TIME",
    ("TIME", "WITHOUT", "TIME", "ZONE"): "LOCAL TIME",
    ("ZONED", "TIME"): "ZONED TIME",
    ("TIME", "WITH", "TIMEZONE"): "ZONED TIME",
    ("TIME", "WITH", "TIME", "ZONE"): "ZONED TIME",
    ("LOCAL", "DATETIME"): "LOCAL DATETIME",
    ("TIMESTAMP", "WITHOUT", "TIMEZONE"): "LOCAL DATETIME",
    ("TIMESTAMP", "WITHOUT", "TIME", "ZONE"): "LOCAL DATETIME",
    ("ZONED", "DATETIME"): "ZONED DATETIME",
    ("TIMESTAMP", "WITH", "TIMEZONE"): "ZONED DATETIME",
    ("TIMESTAMP", "WITH", "TIME", "ZONE"): "ZONED DATETIME",
    ("DURATION",): "DURATION",
    ("POINT",): "POINT",
    ("NODE",): "NODE",
    ("VERTEX",): "NODE",
    ("ANY", "NODE"): "NODE",
    ("ANY", "VERTEX"): "NODE",
    ("RELATIONSHIP",): "RELATIONSHIP",
    ("EDGE",): "RELATIONSHIP",
    ("ANY", "RELATIONSHIP"): "RELATIONSHIP",
    ("ANY", "EDGE"): "RELATIONSHIP",
    ("MAP",): "MAP",
    ("ANY", "MAP"): "MAP",
    ("PATH",): "PATH",
    ("PATHS",): "PATH",
    ("PROPERTY", "VALUE"): "PROPERTY VALUE",
    ("ANY", "PROPERTY", "VALUE"): "PROPERTY VALUE",
}
LONGEST_NAME_WORDS = max(map(len, NAMES))


class ValueTypes(Cursor):
    """The part of the parser that reads value types."""

    def value_type(self) -> ValueType:
        """A type, or a union of types between bars."""
        options = [self._single_type()]
        while self.is_op("|") and self.ahead().kind == "name" and self._names_type(1):
            self.place += 1
            options.append(self._single_type())
        return options[0] if len(options) == 1 else ValueType("ANY", options=tuple(options))

    def _names_type(self, steps: int) -> bool:
        words = tuple(self.ahead(steps + n).upper for n in range(LONGEST_NAME_WORDS))
        known = any(words[:count] in NAMES for count in range(1, len(words) + 1))
        return known or words[0] in ("LIST", "ARRAY", "ANY")

    def _single_type(self) -> ValueType:
        self.enter()
        found = self._postfix_type(self._base_type())
        self.leave()
        return found

    def _base_type(self) -> ValueType:
        if self.accept_word("LIST") or self.accept_word("ARRAY"):
            self.expect_op("<")
            item = self.value_type()
            self.expect_op(">")
            return ValueType("LIST", item)
        for count in range(LONGEST_NAME_WORDS, 0, -1):
            words = tuple(self.ahead(n).upper for n in range(count))
            if words in NAMES and all(self.ahead(n).kind == "name" for n in range(count)):
                self.place += count
                return ValueType(NAMES[words])
        if self.accept_word("ANY"):
            _ = self.accept_word("VALUE")
            return self._any_of()
        self.fail("a type such as INTEGER, STRING or LIST<ANY>")

    def _any_of(self) -> ValueType:
        """What follows ANY: nothing, or alternatives between angle brackets."""
        if not self.accept_op("<"):
            return ValueType("ANY")
        inner = self.value_type()
        self.expect_op(">")
        return inner

    def _postfix_type(self, found: ValueType) -> ValueType:
        while True:
            if self.accept_word("NOT", "NULL") or self.accept_op("!"):
                found = ValueType(found.name, found.item, True, found.options)
            elif self.accept_word("LIST") or self.accept_word("ARRAY"):
                found = ValueType("LIST", found)
            else:
                return found
