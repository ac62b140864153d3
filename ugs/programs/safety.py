"""Whether a query only reads, within bounds. The real parser decides; words only serve to name what it refused.

A text is parsed as it is. Only when that fails is what follows ` -- ` on a line taken for a note and left out (C-74).
So `(a) -- (b) DELETE a` stays a pattern with a write behind it, and `RETURN n -- DELETE is only a note` is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from ugs import cypher
from ugs.cypher.analysis.walk import walk
from ugs.cypher.errors import CypherError, CypherSyntaxError
from ugs.cypher.syntax import Length, Match, Parameter, Projection, Query, RelationshipPattern, Return, Tree
from ugs.cypher.tokens import LEXICON, Token, tokenize
from ugs.programs.bounds import BOUNDS

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


class Checked(Struct, frozen=True):
    """A query as it will run, what is wrong with it, and the parameters it names."""

    text: str
    faults: tuple[Fault, ...]
    parameters: frozenset[str] = frozenset()
    limited: bool = False
    """Whether the query has a LIMIT of its own."""
    ordered: bool = False
    """Whether the query says in which order its rows come."""

    def to_run(self, limit: int | None) -> str:
        """The text with the operation's limit as its LIMIT, where it has none."""
        if limit is None or self.limited:
            return self.text
        return f"{_without_semicolon(self.text)}\nLIMIT {limit}"


@lru_cache(maxsize=1024)
def check_query(text: str, longest_path: int = BOUNDS.path) -> Checked:
    """Everything that can be said about a query without running it."""
    trouble: CypherError | None = None
    for candidate in dict.fromkeys((text, without_notes(text))):
        try:
            prepared = cypher.prepare(candidate)
        except CypherError as error:
            trouble = trouble or error
        else:
            return _described(prepared, longest_path)
    return Checked(text, tuple(_forbidden(text)) or (Fault("V031", f"Cypher query cannot be read: {trouble}"),))


def _described(prepared: cypher.Prepared, longest_path: int) -> Checked:
    query = prepared.statement.query
    parts = list(walk(query))
    last = query.parts[-1].clauses[-1]
    final = last.projection if isinstance(last, Return) else Projection(())
    return Checked(
        prepared.text,
        (*_shape(prepared.statement.mode, query), *_long_paths(parts, longest_path)),
        frozenset(part.name for part in parts if isinstance(part, Parameter)),
        final.limit is not None,
        bool(final.order),
    )


def _shape(mode: str, query: Query) -> Iterator[Fault]:
    if mode:
        yield Fault("V031", f"Cypher query must be MATCH … RETURN, without {mode}")
    elif not all(any(isinstance(clause, Match) for clause in single.clauses) for single in query.parts):
        yield Fault("V031", "Cypher query must be MATCH … RETURN: it matches nothing")


def _long_paths(parts: Sequence[Tree], longest: int) -> Iterator[Fault]:
    for part in parts:
        if isinstance(part, RelationshipPattern) and part.length is not None:
            shown = f"[*{_range(part.length)}]"
            if part.length.high is None:
                yield Fault("V030", f"Unbounded variable-length path {shown}: set an upper bound of at most {longest}")
            elif part.length.high > longest:
                yield Fault("V030", f"Variable-length path {shown}: depth {part.length.high} exceeds maximum {longest}")


def _range(length: Length) -> str:
    low, high = ("" if bound is None else str(bound) for bound in (length.low, length.high))
    return low if low == high else f"{low}..{high}"


def _forbidden(text: str) -> list[Fault]:
    """The words that a text which cannot be read may have been refused for, each once, by rule."""
    try:
        tokens = tokenize(text)
    except CypherSyntaxError:
        return []
    words = {token.upper for before, token in pairwise([tokens[-1], *tokens]) if _stands(before, token)}
    return [Fault(rule, MESSAGES.get(word, WRITING + word)) for word, rule in REFUSED.items() if word in words]


def _stands(before: Token, token: Token) -> bool:
    """Whether a word stands for itself, and does not name a property or a label."""
    return token.kind == "name" and not (before.kind == "op" and before.value in (".", ":"))


def without_notes(text: str) -> str:
    """The text without ` -- …` to the end of the line; dashes between two nodes are a relationship."""
    kept: list[str] = []
    place = 0
    while place < len(text):
        note = NOTE.match(text, place)
        if note and not ("".join(kept).rstrip().endswith(")") and BETWEEN_NODES.match(text, place)):
            place = note.end()
            continue
        found = LEXICON.match(text, place)
        end = place + 1 if found is None else found.end()
        kept.append(text[place:end])
        place = end
    return "".join(kept)


def _without_semicolon(text: str) -> str:
    last = tokenize(text)[-2]
    return text[: last.start] if last.kind == "op" and last.value == ";" else text
