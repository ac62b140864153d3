"""The parser of the text DSL: from text to the JSON of a program, with line and column of every error.

`--` begins a comment line, `-- Step N: …` directly before a statement is its label, `-- @block …` its annotation.
Comment lines at the very top that are followed by a blank line are the header (C-83 to C-87).
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, field

from ugs.programs.ast import GraphProgram
from ugs.programs.commands import parse_valid
from ugs.programs.text.cursor import SPACES, Cursor, from_quoted
from ugs.programs.text.queries import read_query
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.support.worker_threads import take_turn

METADATA = {"exploration": "name", **{key: key for key in ("name", "description", "author", "created")}}
HEADER_LINE = re.compile(r"--[ \t]*(?P<key>[A-Za-z]+):[ \t]*(?P<value>.*)")
STEP = re.compile(r"Step \d+:[ \t]*(?P<label>.*)")
OPERATOR = re.compile(r"([-+&?!])\s+")
PARAM = re.compile(r"@param[ \t]+(?P<name>[^\s:]+)[ \t]*:[ \t]*(?P<type>[A-Za-z]+)[ \t]*(?P<equals>=)?[ \t]*")
BLOCK_KEY = re.compile(r'[ \t]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<key>[^\s="]+))=')
COUNTS = frozenset({"count_gte", "count_lte"})
TEXTS = {"has_ontology": "ontology", "has_relationship": "type"}
PLAIN = frozenset({"has_results", "empty"})
IF = re.compile(r"IF\b")
MAX_DEPTH = 50
MAX_STATEMENTS = 1_000
"""More than a valid program can have, branches included; the validator counts exactly."""


class ParsedText(Struct):
    """A parsed program, and warnings for its author."""

    program: dict[str, Any]
    warnings: list[str] = field(default_factory=list)


class LeadingComments(Struct):
    """Label and annotation from the comments before a statement."""

    label: str | None = None
    block: dict[str, Any] | None = None


def parse_text(text: str) -> ParsedText:
    """The JSON of a program, not yet validated."""
    return ProgramParser(text).program()


def parse_program(text: str, bounds: Bounds = BOUNDS) -> GraphProgram:
    """Parse and validate a program."""
    return parse_valid(parse_text(text).program, bounds)


class ProgramParser:
    """The recursive-descent parser of one text."""

    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text)
        self.params: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._above = LeadingComments()
        self._depth = 0
        self._count = 0

    def program(self) -> ParsedText:
        metadata = self._header()
        statements = self._statements()
        if not self.cursor.at_end:
            self.cursor.fail("Unexpected '}'")
        if not statements:
            self.cursor.fail("A program needs at least one statement")
        found: dict[str, Any] = {"version": 1}
        if metadata:
            found["metadata"] = metadata
        if self.params:
            found["params"] = self.params
        return ParsedText({**found, "statements": statements}, self.warnings)

    def _header(self) -> dict[str, str]:
        """Comment lines at the top, if a blank line or a declaration ends them."""
        lines = self.cursor.text.lstrip("\n").split("\n")
        count = next((n for n, line in enumerate(lines) if not line.startswith("--") or "@" in line[:6]), len(lines))
        if count == 0 or (count < len(lines) and lines[count].strip() and not lines[count].startswith("@param")):
            return {}
        self.cursor.place = len(self.cursor.text) - len("\n".join(lines[count:]))
        found = [HEADER_LINE.match(line) for line in lines[:count]]
        known = [line for line in found if line is not None and line["key"].lower() in METADATA]
        return {METADATA[line["key"].lower()]: line["value"].strip() for line in known if line["value"].strip()}

    def _statements(self) -> list[dict[str, Any]]:
        statements = []
        while self._to_statement():
            take_turn()
            self._count += 1
            if self._count > MAX_STATEMENTS:
                self.cursor.fail(f"A program has at most {MAX_STATEMENTS} statements")
            statements.append(self._statement())
        return statements

    def _to_statement(self) -> bool:
        """Advance to the next statement and collect the comments before it."""
        cursor = self.cursor
        while not cursor.at_end and not cursor.starts("}"):
            if cursor.text[cursor.place].isspace():
                self._space()
            elif cursor.starts("--"):
                self._comment()
            elif cursor.starts("@param"):
                self._param()
            else:
                return True
        return False

    def _space(self) -> None:
        start = self.cursor.place
        self.cursor.skip_white()
        if self.cursor.text.count("\n", start, self.cursor.place) > 1:
            self._above.label = None

    def _comment(self) -> None:
        self.cursor.place += 2
        self.cursor.match(SPACES)
        if self.cursor.starts("@param"):
            self._param()
        elif self.cursor.starts("@block"):
            self._block()
        else:
            step = STEP.fullmatch(self.cursor.rest_of_line())
            self._above.label = None if step is None else step["label"].strip() or None

    def _param(self) -> None:
        found = self.cursor.match(PARAM)
        if found is None:
            self.cursor.fail("Expected @param name: type = default")
        declared: dict[str, Any] = {"name": found["name"], "type": found["type"]}
        if found["equals"]:
            declared["default"] = self.cursor.loose_value("a default value")
        self._only_spaces_left("the declaration")
        self.params.append(declared)

    def _block(self) -> None:
        self.cursor.place += len("@block")
        kind = self.cursor.word("a block type")
        params: dict[str, Any] = {}
        while (key := self.cursor.match(BLOCK_KEY)) is not None:
            name = key["key"] if key["quoted"] is None else from_quoted(key["quoted"])
            params[name] = self.cursor.loose_value(f"a value for {name}")
        self._only_spaces_left("the annotation")
        self._above.block = {"blockType": kind, "params": params}

    def _only_spaces_left(self, what: str) -> None:
        rest = self.cursor.rest_of_line()
        if rest:
            self.cursor.fail(f"Unexpected text behind {what}: {rest[:40]!r}", self.cursor.place - len(rest))

    def _statement(self) -> dict[str, Any]:
        above, self._above = self._above, LeadingComments()
        operator = self.cursor.match(OPERATOR)
        found: dict[str, Any] = {"op": "+" if operator is None else operator[1]}
        found["operation"] = self._operation()
        if above.label is not None:
            found["label"] = above.label
        if above.block is not None:
            found["block"] = above.block
        return found

    def _operation(self) -> dict[str, Any]:
        if self.cursor.starts("@api"):
            return self._api()
        if self.cursor.starts("@cypher"):
            return self._quoted_query()
        if IF.match(self.cursor.text, self.cursor.place):
            return self._conditional()
        found = read_query(self.cursor)
        self._ended(found.ended)
        operation: dict[str, Any] = {"type": "cypher", "query": found.query}
        return operation if found.limit is None else {**operation, "limit": found.limit}

    def _api(self) -> dict[str, Any]:
        self.cursor.place += len("@api")
        endpoint = self.cursor.word("an endpoint")
        start = self.cursor.place
        params = self.cursor.json_value("the parameters")
        if not isinstance(params, dict):
            self.cursor.fail("Parameters are a JSON object", start)
        self._ended(self.cursor.accept(";"))
        return {"type": "api", "endpoint": endpoint, "params": params}

    def _quoted_query(self) -> dict[str, Any]:
        """A query as a JSON string, preserved exactly, and the limit of the operation behind it."""
        self.cursor.place += len("@cypher")
        start = self.cursor.place
        query = self.cursor.json_value("the query")
        if not isinstance(query, str):
            self.cursor.fail("The query behind @cypher is a JSON string", start)
        operation: dict[str, Any] = {"type": "cypher", "query": query}
        if self.cursor.accept("LIMIT"):
            operation["limit"] = self.cursor.json_value("a number")
        self._ended(self.cursor.accept(";"))
        return operation

    def _conditional(self) -> dict[str, Any]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.cursor.fail(f"Conditionals nest deeper than {MAX_DEPTH}")
        self.cursor.place += len("IF")
        found: dict[str, Any] = {"type": "conditional", "condition": self._condition()}
        self.cursor.expect("THEN")
        found["then"] = self._branch()
        if self.cursor.accept("ELSE"):
            found["else"] = self._branch()
        self._ended(self.cursor.accept(";"))
        self._depth -= 1
        return found

    def _branch(self) -> list[dict[str, Any]]:
        self.cursor.expect("{")
        statements = self._statements()
        self.cursor.expect("}")
        return statements

    def _condition(self) -> dict[str, Any]:
        test = self.cursor.word("a condition")
        if test in PLAIN:
            return {"test": test}
        if test in COUNTS:
            return {"test": test, "value": self.cursor.json_value("a number")}
        if test in TEXTS:
            return {"test": test, TEXTS[test]: self.cursor.loose_value("a text")}
        known = ", ".join(sorted({*PLAIN, *COUNTS, *TEXTS}))
        self.cursor.fail(f"Unknown condition {test[:40]!r}; known: {known}", self.cursor.place - len(test))

    def _ended(self, ended: bool) -> None:
        if not ended:
            line, column = self.cursor.position(self.cursor.place)
            self.warnings.append(f"A statement ends without ';' (line {line}, column {column})")
