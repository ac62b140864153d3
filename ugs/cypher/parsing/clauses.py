"""Parsing of clauses and of the whole text. Whatever does more than read is refused by name, with its place."""

from __future__ import annotations

from collections.abc import Callable

from ugs.cypher.errors import CypherRefused, CypherSyntaxError
from ugs.cypher.parsing.expressions import Expressions
from ugs.cypher.syntax import (
    Clause,
    Expression,
    Item,
    Match,
    Projection,
    Query,
    Return,
    Single,
    Sort,
    Statement,
    Unwind,
    Variable,
    With,
)
from ugs.cypher.tokens import MAX_TEXT

MAX_PARTS = 100
READING = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
REFUSED = {
    "writes": "CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT",
    "procedures": "CALL",
    "files": "LOAD",
    "administration": "USE SHOW TERMINATE ALTER DROP GRANT DENY REVOKE START STOP RENAME ENABLE DEALLOCATE REALLOCATE "
    "PERIODIC DRYRUN",
    "options": "CYPHER",
    "unsupported": "FINISH FILTER LET FOR ORDER OFFSET",
}
RULES = {word: rule for rule, words in REFUSED.items() for word in words.split()}
REASONS = {
    "writes": "{word} changes data, and queries here only read",
    "procedures": "{word} is not available: queries read the graph and nothing else",
    "files": "{word} reads from outside the graph, which queries here cannot",
    "administration": "{word} is a matter of administration, not of reading the graph",
    "options": "{word} options are not available; begin with EXPLAIN, PROFILE or a clause",
    "unsupported": "{word} cannot begin a clause here",
}


def parse(text: str) -> Statement:
    """The syntax tree of a query, or an error that names the place."""
    if len(text.encode("utf-8", "replace")) > MAX_TEXT:
        raise CypherSyntaxError("QueryTooLong", f"The query is longer than {MAX_TEXT} bytes", 0)
    try:
        return Parser(text).statement()
    except CypherSyntaxError as error:
        error.locate(text)
        raise
    except RecursionError:
        raise CypherSyntaxError("NestingTooDeep", "The query nests too deep", 0) from None


class Parser(Expressions):
    """Reads one statement."""

    def statement(self) -> Statement:
        mode = self.token.upper if self.is_word("EXPLAIN") or self.is_word("PROFILE") else ""
        self.place += bool(mode)
        query = self.query()
        if self.accept_op(";") and self.token.kind != "end":
            raise CypherRefused("several statements", "Only one statement can be sent at a time", self.at)
        if self.token.kind != "end":
            self._no_clause()
        return Statement(query, mode)  # type: ignore[arg-type]

    def query(self) -> Query:
        self.enter()
        parts, kinds = [self.single()], set()
        while self.accept_word("UNION"):
            at = self.at
            kinds.add(self.accept_word("ALL"))
            parts.append(self.single())
            if len(kinds) > 1:
                raise CypherSyntaxError("InvalidClauseComposition", "UNION and UNION ALL cannot be mixed", at)
            if len(parts) > MAX_PARTS:
                raise CypherSyntaxError("QueryTooLong", f"More than {MAX_PARTS} parts in a UNION", at)
        self.leave()
        return Query(tuple(parts), kinds == {True})

    def single(self) -> Single:
        clauses: list[Clause] = []
        while self.token.kind == "name" and self.token.upper in READING:
            clauses.append(CLAUSES[self.token.upper](self))
            if isinstance(clauses[-1], Return):
                break
        if not clauses:
            self._no_clause()
        self._check_end(clauses)
        return Single(tuple(clauses))

    def _check_end(self, clauses: list[Clause]) -> None:
        """Only a subquery may end without RETURN, and whatever follows RETURN is no clause."""
        if not isinstance(clauses[-1], Return) and not self.is_op("}"):
            if self.token.kind != "end" and not self.is_op(";") and not self.is_word("UNION"):
                self._no_clause()
            message = "The query must end with RETURN"
            raise CypherSyntaxError("InvalidClauseComposition", message, clauses[-1].at)

    def _no_clause(self) -> None:
        token = self.token
        rule = RULES.get(token.upper) if token.kind == "name" else None
        if rule is not None:
            raise CypherRefused(rule, REASONS[rule].format(word=token.upper), token.start)
        self.fail("a clause", (*READING, "WHERE", "UNION"))

    def _match(self) -> Clause:
        at = self.at
        optional = self.accept_word("OPTIONAL")
        self.expect_word("MATCH")
        patterns = self.path_patterns()
        return Match(patterns, self._where(), optional, at=at)

    def _where(self) -> Expression | None:
        return self.expression() if self.accept_word("WHERE") else None

    def _unwind(self) -> Clause:
        at = self.at
        self.place += 1
        source = self.expression()
        self.expect_word("AS")
        return Unwind(source, self.name("a variable"), at=at)

    def _with(self) -> Clause:
        at = self.at
        self.place += 1
        return With(self._projection_body(), self._where(), at=at)

    def _return(self) -> Clause:
        at = self.at
        self.place += 1
        return Return(self._projection_body(), at=at)

    def _projection_body(self) -> Projection:
        distinct = self.accept_word("DISTINCT")
        everything = self.accept_op("*")
        items: list[Item] = []
        if not everything or self.accept_op(","):
            items.append(self._item())
            while self.accept_op(","):
                items.append(self._item())
        order = self._order()
        skip = self.expression() if self.accept_word("SKIP") or self.accept_word("OFFSET") else None
        limit = self.expression() if self.accept_word("LIMIT") else None
        return Projection(tuple(items), everything, distinct, order, skip, limit)

    def _item(self) -> Item:
        start = self.at
        value = self.expression()
        end = self.tokens[self.place - 1].end
        if self.accept_word("AS"):
            return Item(value, self.name("an alias"), True)
        if isinstance(value, Variable):
            return Item(value, value.name)
        return Item(value, self.text[start:end])

    def _order(self) -> tuple[Sort, ...]:
        if not self.accept_word("ORDER", "BY"):
            return ()
        found = [self._sort()]
        while self.accept_op(","):
            found.append(self._sort())
        return tuple(found)

    def _sort(self) -> Sort:
        value = self.expression()
        descending = self.accept_word("DESC") or self.accept_word("DESCENDING")
        if not descending:
            _ = self.accept_word("ASC") or self.accept_word("ASCENDING")
        return Sort(value, descending)


CLAUSES: dict[str, Callable[[Parser], Clause]] = {
    "MATCH": Parser._match,
    "OPTIONAL": Parser._match,
    "UNWIND": Parser._unwind,
    "WITH": Parser._with,
    "RETURN": Parser._return,
}
