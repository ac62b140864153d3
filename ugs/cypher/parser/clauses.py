"""Parsing of clauses and of the whole text. Whatever does more than read is refused by name, with its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ugs.cypher.errors import CypherRefused, CypherSyntaxError
from ugs.cypher.lexer import MAX_QUERY_BYTES
from ugs.cypher.parser.expressions import Expressions
from ugs.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Expression,
    Finish,
    Item,
    Match,
    Notice,
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

MAX_PARTS = 100
READING = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "CALL", "RETURN", "FINISH", "ORDER", "SKIP", "OFFSET", "LIMIT")
REFUSED = {
    "writes": "CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT",
    "files": "LOAD",
    "administration": "USE SHOW TERMINATE ALTER DROP GRANT DENY REVOKE START STOP RENAME ENABLE DEALLOCATE REALLOCATE "
    "PERIODIC DRYRUN",
    "unsupported": "FILTER LET FOR",
}
RULES = {word: rule for rule, words in REFUSED.items() for word in words.split()}
REASONS = {
    "writes": "{word} changes data, and queries here only read",
    "files": "{word} reads from outside the graph, which queries here cannot",
    "administration": "{word} is a matter of administration, not of reading the graph",
    "unsupported": "{word} cannot begin a clause here",
}


def parse(text: str) -> Statement:
    """The syntax tree of a query, or an error that names the place."""
    if len(text.encode("utf-8", "replace")) > MAX_QUERY_BYTES:
        raise CypherSyntaxError("QueryTooLong", f"The query is longer than {MAX_QUERY_BYTES} bytes", 0)
    try:
        return Parser(text).statement()
    except CypherSyntaxError as error:
        error.locate(text)
        raise
    except RecursionError:
        raise CypherSyntaxError("NestingTooDeep", "The query nests too deep", 0) from None


def is_unit(part: Single) -> bool:
    """Whether a query has no result columns."""
    last = part.clauses[-1]
    nested = isinstance(last, CallSubquery) and all(is_unit(inner) for inner in last.query.parts)
    return isinstance(last, Finish) or nested


HINT_WORDS = ("INDEX", "SEEK", "SCAN", "TEXT", "RANGE", "POINT", "BTREE")


class Parser(Expressions):
    """Reads one statement."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.notices: list[Notice] = []

    def statement(self) -> Statement:
        self._options()
        mode = self.token.upper if self.is_word("EXPLAIN") or self.is_word("PROFILE") else ""
        self.place += bool(mode)
        self._options()
        query = self._alone_call() or self.query()
        if self.accept_op(";") and self.token.kind != "end":
            raise CypherRefused("several statements", "Only one statement can be sent at a time", self.at)
        if self.token.kind != "end":
            self._refuse_clause()
        return Statement(query, mode, tuple(self.notices))  # type: ignore[arg-type]

    def _options(self) -> None:
        """`CYPHER 5 runtime=slotted`: read and ignored with a notice; only version 5 is spoken."""
        while self.is_word("CYPHER"):
            at = self.at
            self.place += 1
            if self.token.kind in ("integer", "float"):
                if self.token.value.partition(".")[0] != "5":
                    raise CypherSyntaxError("UnexpectedSyntax", "Only CYPHER 5 is available", self.at)
                self.place += 1
            while self.token.kind == "name" and self.ahead().value == "=":
                self.place += 2
                self.place += self.token.kind in ("name", "string", "integer")
            self.notices.append(Notice("OPTION_IGNORED", "The options after CYPHER have no effect here", at))

    def _alone_call(self) -> Query | None:
        """A procedure call that is the whole query: it needs no RETURN."""
        start = self.place
        if not (self.is_word("CALL") and self.ahead().kind in ("name", "quoted")):
            return None
        call = self._call_clause()
        if isinstance(call, CallProcedure) and call.where is None and (self.token.kind == "end" or self.is_op(";")):
            return Query((Single((replace(call, alone=True),)),))
        self.place = start
        return None

    def query(self) -> Query:
        self.enter()
        parts, kinds = [self.single()], set()
        while self.accept_word("UNION"):
            at = self.at
            every = self.accept_word("ALL")
            _ = every or self.accept_word("DISTINCT")
            kinds.add(every)
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
            if isinstance(clauses[-1], Return | Finish):
                break
        if not clauses:
            self._refuse_clause()
        self._check_end(clauses)
        return Single(tuple(clauses))

    def _check_end(self, clauses: list[Clause]) -> None:
        """Only a subquery may end without RETURN, and whatever follows RETURN is no clause."""
        last = clauses[-1]
        unit = isinstance(last, CallSubquery) and all(is_unit(part) for part in last.query.parts)
        if isinstance(last, Return | Finish) or unit:
            return
        if self.is_op("}") and not self.in_call:
            return
        if self.token.kind != "end" and not self.is_op(";", "}") and not self.is_word("UNION"):
            self._refuse_clause()
        message = "The query must end with RETURN or FINISH"
        raise CypherSyntaxError("InvalidClauseComposition", message, last.at)

    def _refuse_clause(self) -> None:
        token = self.token
        rule = RULES.get(token.upper) if token.kind == "name" else None
        if rule is not None:
            raise CypherRefused(rule, REASONS[rule].format(word=token.upper), token.start)
        self.fail("a clause", (*READING, "WHERE", "UNION"))

    def _match(self) -> Clause:
        at = self.at
        optional = self.accept_word("OPTIONAL")
        if optional and self.is_word("CALL"):
            self.place -= 1
            return self._call_clause()
        self.expect_word("MATCH")
        patterns = self.path_patterns()
        self._hints()
        return Match(patterns, self._where(), optional, at=at)

    def _hints(self) -> None:
        """`USING INDEX n:Label(key)` and its kin: read and ignored with a notice."""
        while self.is_word("USING"):
            at = self.at
            self.place += 1
            while self.token.kind == "name" and self.token.upper in HINT_WORDS:
                self.place += 1
            if self.token.upper == "JOIN":
                self.place += 1
                self.expect_word("ON")
                self.name("a variable")
                while self.accept_op(","):
                    self.name("a variable")
            else:
                self._index_hint()
            self.notices.append(Notice("HINT_IGNORED", "The hint has no effect here: the planner chooses", at))

    def _index_hint(self) -> None:
        self.name("a variable")
        self.expect_op(":")
        self.any_name("a label")
        if self.accept_op("("):
            self.any_name("a property key")
            while self.accept_op(","):
                self.any_name("a property key")
            self.expect_op(")")

    def _call_clause(self) -> Clause:
        """`CALL { … }`, `CALL (x) { … }` or a procedure."""
        at = self.at
        optional = self.accept_word("OPTIONAL")
        self.expect_word("CALL")
        if self.token.kind in ("name", "quoted"):
            return self._procedure(at, optional)
        imports, everything = self._imports()
        self.expect_op("{")
        was_inside, self.in_call = self.in_call, True
        query = self.query()
        self.in_call = was_inside
        self.expect_op("}")
        if self.is_word("IN"):
            message = "Transactions belong to queries that write, and queries here only read"
            raise CypherRefused("writes", message, self.at)
        return CallSubquery(query, imports, everything, optional, at=at)

    def _imports(self) -> tuple[tuple[str, ...] | None, bool]:
        if not self.accept_op("("):
            self._note_import()
            return None, False
        names: list[str] = []
        everything = self.accept_op("*")
        while not everything and not self.is_op(")"):
            names.append(self.name("a variable"))
            if not self.accept_op(","):
                break
        self.expect_op(")")
        return tuple(names), everything

    def _note_import(self) -> None:
        """A leading WITH that imports variables is deprecated."""
        if self.is_op("{") and self.ahead().upper == "WITH":
            message = "CALL { WITH x … } is deprecated: write CALL (x) { … }"
            self.notices.append(Notice("DEPRECATED", message, self.at))

    def _procedure(self, at: int, optional: bool) -> Clause:
        name = self.any_name("a procedure")
        while self.accept_op("."):
            name += "." + self.any_name("a procedure")
        arguments = self._parse_list(")") if self.accept_op("(") else None
        yields, everything, where = None, False, None
        if self.accept_word("YIELD"):
            everything = self.accept_op("*")
            yields = () if everything else self._yield_items()
            where = self._where()
        return CallProcedure(name, arguments, yields, where, everything, optional, at=at)

    def _yield_items(self) -> tuple[tuple[str, str], ...]:
        items: list[tuple[str, str]] = []
        while not items or self.accept_op(","):
            field = self.any_name("a result field")
            items.append((field, self.name("an alias") if self.accept_word("AS") else field))
        return tuple(items)

    def _finish(self) -> Clause:
        at = self.at
        self.place += 1
        return Finish(at=at)

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

    def _page(self) -> Clause:
        """`ORDER BY`, `SKIP` or `LIMIT` as a clause of its own means the same after `WITH *`."""
        at = self.at
        if self.is_word("ORDER") and self.ahead().upper != "BY":
            self.place += 1
            self.fail("BY")
        return With(Projection((), True, False, *self._order_and_page()), None, at=at)

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
        return Projection(tuple(items), everything, distinct, *self._order_and_page())

    def _order_and_page(self) -> tuple[tuple[Sort, ...], Expression | None, Expression | None]:
        order = self._order()
        skip = self.expression() if self.accept_word("SKIP") or self.accept_word("OFFSET") else None
        limit = self.expression() if self.accept_word("LIMIT") else None
        return order, skip, limit

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
    "CALL": Parser._call_clause,
    "FINISH": Parser._finish,
    "ORDER": Parser._page,
    "SKIP": Parser._page,
    "OFFSET": Parser._page,
    "LIMIT": Parser._page,
}
