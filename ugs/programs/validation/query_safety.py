"""Checks that a query only reads and is bounded. The Cypher parser decides; keywords only serve to name the fault.

A text is parsed as it is. Only if that fails, text after ` -- ` on a line is treated as a comment and removed (C-74).
So `(a) -- (b) DELETE a` is a pattern followed by a write, and `RETURN n -- DELETE is only a note` is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from ugs import cypher
from ugs.cypher.analysis.tree_walk import walk
from ugs.cypher.errors import CypherError, CypherSyntaxError
from ugs.cypher.lexer import LEXICON, MAX_QUERY_BYTES, Token, tokenize
from ugs.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Length,
    Match,
    Parameter,
    Projection,
    QuantifiedPath,
    Query,
    RelationshipPattern,
    Return,
    Tree,
)
from ugs.programs.validation.limits import BOUNDS
from ugs.support.bounded_cache import bounded_cache

REFUSED = {
    "CREATE": "V010",
    "SET": "V011",
    "DELETE": "V012",
    "MERGE": "V013",
    "REMOVE": "V014",
    "DROP": "V015",
    "DETACH": "V016",
    "CALL": "V017",
    "LOAD": "V018",
    "FOREACH": "V018",
}
WRITING = "Cypher query contains write keyword: "
MESSAGES = {
    "CALL": "Cypher query contains a procedure call: CALL",
    "LOAD": "Cypher query reads from outside the graph: LOAD",
    "FOREACH": "Cypher query contains FOREACH",
}
NOTE = re.compile(r"(?:^|(?<=\s))--(?=\s|$)[^\n]*")
BETWEEN_NODES = re.compile(r"--\s*\(")


class Fault(Struct, frozen=True):
    """A rule that a query breaks."""

    rule: str
    message: str


class CheckedQuery(Struct, frozen=True):
    """A query as it will run, its faults, and the parameters it uses."""

    text: str
    faults: tuple[Fault, ...]
    parameters: frozenset[str] = frozenset()
    limited: bool = False
    """Whether the query has a LIMIT of its own."""
    ordered: bool = False
    """Whether the query says in which order its rows come."""

    def to_run(self, limit: int | None) -> str:
        """The text with the operation's limit as its LIMIT, unless it has one."""
        if limit is None or self.limited:
            return self.text
        return f"{_without_semicolon(self.text)}\nLIMIT {limit}"


@bounded_cache(max_entries=1_024, max_bytes=16 << 20, factor=8)
def check_query(text: str, max_path: int = BOUNDS.path) -> CheckedQuery:
    """All static checks of a query; one that is too long is refused unread."""
    if len(text) > MAX_QUERY_BYTES:
        return CheckedQuery("", (Fault("V031", f"Cypher query is longer than {MAX_QUERY_BYTES} characters"),))
    trouble: CypherError | None = None
    for candidate in dict.fromkeys((text, strip_comments(text))):
        try:
            prepared = cypher.prepare(candidate)
        except CypherError as error:
            trouble = trouble or error
        else:
            return _check_parsed(prepared, max_path)
    return CheckedQuery(text, tuple(_forbidden(text)) or (Fault("V031", f"Cypher query cannot be read: {trouble}"),))


def _check_parsed(prepared: cypher.Prepared, longest_path: int) -> CheckedQuery:
    query = prepared.statement.query
    parts = list(walk(query))
    last = query.parts[-1].clauses[-1]
    final = last.projection if isinstance(last, Return) else Projection(())
    return CheckedQuery(
        prepared.text,
        (*(tuple(_calls(parts)) or _shape(prepared.statement.mode, query)), *_long_paths(parts, longest_path)),
        frozenset(part.name for part in parts if isinstance(part, Parameter)),
        final.limit is not None,
        bool(final.order),
    )


def _shape(mode: str, query: Query) -> Iterator[Fault]:
    if mode:
        yield Fault("V031", f"Cypher query must be MATCH … RETURN, without {mode}")
    elif not all(any(isinstance(clause, Match) for clause in single.clauses) for single in query.parts):
        yield Fault("V031", "Cypher query must be MATCH … RETURN: it matches nothing")


def _calls(parts: Sequence[Tree]) -> Iterator[Fault]:
    """Programs call neither procedures nor subqueries."""
    if any(isinstance(part, CallProcedure) for part in parts):
        yield Fault("V017", MESSAGES["CALL"])
    elif any(isinstance(part, CallSubquery) for part in parts):
        yield Fault("V017", "Cypher query contains a subquery: CALL")


def _long_paths(parts: Sequence[Tree], longest: int) -> Iterator[Fault]:
    for part in parts:
        if isinstance(part, QuantifiedPath):
            part = _as_relationship(part)
        if isinstance(part, RelationshipPattern) and part.length is not None:
            shown = f"[*{_range(part.length)}]"
            if part.length.high is None:
                yield Fault("V030", f"Unbounded variable-length path {shown}: set an upper bound of at most {longest}")
            elif part.length.high > longest:
                yield Fault("V030", f"Variable-length path {shown}: depth {part.length.high} exceeds maximum {longest}")


def _as_relationship(path: QuantifiedPath) -> RelationshipPattern:
    """A relationship of variable length that is as long as a quantified path."""
    hops = len(path.elements) // 2
    length = Length(path.low * hops, None if path.high is None else path.high * hops)
    return RelationshipPattern(None, (), "both", length, None, at=path.at)


def _range(length: Length) -> str:
    low, high = ("" if bound is None else str(bound) for bound in (length.low, length.high))
    return low if low == high else f"{low}..{high}"


def _forbidden(text: str) -> list[Fault]:
    """The write keywords in a text that cannot be parsed, each once, by rule."""
    try:
        tokens = tokenize(text)
    except CypherSyntaxError:
        return []
    words = {token.upper for before, token in pairwise([tokens[-1], *tokens]) if _is_keyword(before, token)}
    return [Fault(rule, MESSAGES.get(word, WRITING + word)) for word, rule in REFUSED.items() if word in words]


def _is_keyword(before: Token, token: Token) -> bool:
    """Whether a word is a keyword, and not the name of a property or label."""
    return token.kind == "name" and not (before.kind == "op" and before.value in (".", ":"))


def strip_comments(text: str) -> str:
    """The text without ` -- …` to the end of the line; dashes between two nodes are a relationship."""
    kept: list[str] = []
    place, before = 0, ""
    """`before`: the last character kept that is no white space."""
    while place < len(text):
        note = NOTE.match(text, place)
        if note and not (before == ")" and BETWEEN_NODES.match(text, place)):
            place = note.end()
            continue
        found = LEXICON.match(text, place)
        end = place + 1 if found is None else found.end()
        kept.append(text[place:end])
        before = kept[-1].rstrip()[-1:] or before
        place = end
    return "".join(kept)


def _without_semicolon(text: str) -> str:
    last = tokenize(text)[-2]
    return text[: last.start] if last.kind == "op" and last.value == ";" else text
