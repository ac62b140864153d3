"""Invented graphs and queries, the same for the same seed.

A query is written once for two readers. `{a}` after a variable stands for the label that tells our nodes in a shared
Neo4j database apart, and `<a>` for the id of `a`: `id(a)` to our engine, a property to Neo4j.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

from ugs.graph.commands import AddEdge, AddNode

LABELS = ("A", "B", "C")
TYPES = ("R", "S", "T")
TEXTS = ("", "a", "ab", "b", "Zoë", "ß")
KEYS = ("x", "y", "z")
MAX_NODES, MAX_EDGES = 8, 14


def graph(random: Random) -> list[AddNode | AddEdge]:
    """A small graph: loops, parallel edges, edges without a type.

    No edge leads nowhere: our store marks such an end by a node, which Neo4j asked directly would take for any other.
    """
    count = random.randint(1, MAX_NODES)
    nodes = [_node(number, random) for number in range(count)]
    ends = [f"n{number}" for number in range(count)]
    edges = [
        AddEdge(
            id=f"e{number}",
            source=random.choice(ends),
            target=random.choice(ends),
            type=random.choice((*TYPES, "R", None)),
            properties={"k": random.randint(0, 3)} if random.random() < 0.7 else {},
        )
        for number in range(random.randint(0, MAX_EDGES))
    ]
    return [*nodes, *edges]


def _node(number: int, random: Random) -> AddNode:
    properties: dict[str, Any] = {}
    for key in KEYS:
        if random.random() < 0.7:
            properties[key] = _value(key, random)
    return AddNode(id=f"n{number}", type=random.choice((*LABELS, "A", None)), properties=properties)


def _value(key: str, random: Random) -> Any:
    if key == "x":
        return random.randint(-2, 3)
    if key == "y":
        return random.choice(TEXTS)
    return random.choice((random.randint(0, 2), 1.5, True, False, random.choice(TEXTS), [1, 2], ["a"]))


class Author:
    """Writes one query."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes: list[str] = []
        self.relationships: list[str] = []
        self.values: list[str] = []
        self._names = 0

    def query(self) -> str:
        if self.chance(0.06):
            return self.shortest()
        parts = [self.match()]
        for _ in range(self.random.choice((0, 0, 0, 1, 1, 2))):
            parts.append(self.random.choice((self.match, self.optional, self.unwind, self.with_))())
        return " ".join([*parts, self.last()])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    # ── patterns ─────────────────────────────────────────────────────────────

    def match(self) -> str:
        patterns = ", ".join(self.pattern() for _ in range(1 if self.chance(0.85) else 2))
        return f"MATCH {patterns}{self.where()}"

    def optional(self) -> str:
        before = list(self.nodes)
        text = f"OPTIONAL MATCH {self.pattern(self.random.choice(before) if before else None)}"
        return text + self.where()

    def pattern(self, start: str | None = None) -> str:
        known = start or (self.random.choice(self.nodes) if self.nodes and self.chance(0.6) else None)
        text = self.node(known)
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3))):
            text += self.relationship() + self.node(self.random.choice(self.nodes) if self.chance(0.15) else None)
        return text

    def node(self, known: str | None = None) -> str:
        if known is not None:
            return f"({known})"
        name = self.name("n")
        label = f":{self.random.choice(LABELS)}" if self.chance(0.4) else ""
        properties = f" {{x: {self.random.randint(-2, 3)}}}" if self.chance(0.1) else ""
        self.nodes.append(name)
        return f"({name}{{a}}{label}{properties})"

    def relationship(self) -> str:
        left, right = self.random.choice((("-", "->"), ("<-", "-"), ("-", "-")))
        types = "|".join(self.random.sample((*TYPES, "RELATED"), self.random.choice((1, 1, 2))))
        types = f":{types}" if self.chance(0.6) else ""
        if self.chance(0.15):
            return f"{left}[{types}*{self.random.choice(('1..2', '0..2', '2..3', '1..3', '2'))}]{right}"
        name = self.name("r")
        self.relationships.append(name)
        properties = f" {{k: {self.random.randint(0, 3)}}}" if self.chance(0.1) else ""
        return f"{left}[{name}{types}{properties}]{right}"

    def shortest(self) -> str:
        """How far it is from each node to each other one."""
        left, right = self.random.choice((("-", "->"), ("<-", "-"), ("-", "-")))
        types = f":{self.random.choice(TYPES)}" if self.chance(0.5) else ""
        kind = self.random.choice(("shortestPath", "allShortestPaths"))
        path = f"{kind}((n1){left}[{types}*..{self.random.randint(1, 5)}]{right}(n2))"
        return f"MATCH (n1{{a}}), (n2{{a}}) WHERE <n1> <> <n2> MATCH p = {path} RETURN <n1> AS a, <n2> AS b, length(p) AS n"

    # ── conditions ───────────────────────────────────────────────────────────

    def where(self) -> str:
        return f" WHERE {self.condition(2)}" if self.chance(0.5) else ""

    def condition(self, depth: int) -> str:
        if depth and self.chance(0.4):
            joint = self.random.choice(("AND", "AND", "OR", "XOR"))
            return f"({self.condition(depth - 1)} {joint} {self.condition(depth - 1)})"
        if depth and self.chance(0.15):
            return f"NOT ({self.condition(depth - 1)})"
        return self.random.choice(
            (self.comparison, self.comparison, self.comparison, self.text_test, self.null_test, self.label_test,
             self.membership, self.existence, self.identity)
        )()  # fmt: skip

    def comparison(self) -> str:
        op = self.random.choice(("=", "=", "<>", "<", "<=", ">", ">="))
        return f"{self.scalar()} {op} {self.scalar()}"

    def text_test(self) -> str:
        op = self.random.choice(("STARTS WITH", "ENDS WITH", "CONTAINS"))
        return f"{self.random.choice(self.nodes)}.y {op} '{self.random.choice(TEXTS)}'"

    def null_test(self) -> str:
        return f"{self.property()} IS {self.random.choice(('', 'NOT '))}NULL"

    def label_test(self) -> str:
        return f"{self.random.choice(self.nodes)}:{self.random.choice(LABELS)}"

    def membership(self) -> str:
        values = ", ".join(self.random.choice(("0", "1", "1.5", "'a'", "true", "null")) for _ in range(3))
        return f"{self.property()} IN [{values}]"

    def existence(self) -> str:
        here = self.random.choice(self.nodes)
        left, right = self.random.choice((("-", "->"), ("<-", "-"), ("-", "-")))
        types = f":{self.random.choice(TYPES)}" if self.chance(0.6) else ""
        return f"EXISTS {{ ({here}){left}[{types}]{right}({self.name('m')}{{a}}) }}"

    def identity(self) -> str:
        one, other = (self.random.choice(self.nodes) for _ in range(2))
        return f"<{one}> {self.random.choice(('=', '<>', '<'))} <{other}>" if one != other else f"<{one}> = 'n0'"

    # ── values ───────────────────────────────────────────────────────────────

    def property(self) -> str:
        if self.relationships and self.chance(0.3):
            return f"{self.random.choice(self.relationships)}.k"
        return f"{self.random.choice(self.nodes)}.{self.random.choice(KEYS)}"

    def scalar(self) -> str:
        return self.random.choice(
            (self.property, self.property, lambda: str(self.random.randint(-1, 3)), lambda: "1.5",
             lambda: f"'{self.random.choice(TEXTS)}'", lambda: "true", lambda: "null")
        )()  # fmt: skip

    def shown(self) -> str:
        choices: list[Callable[[], str]] = [self.property, self.property, lambda: f"<{self.random.choice(self.nodes)}>"]
        if self.relationships:
            choices += [
                lambda: f"type({self.random.choice(self.relationships)})",
                lambda: f"<{self.relationships[-1]}>",
            ]
        if self.values:
            choices.append(lambda: self.random.choice(self.values))
        return self.random.choice(choices)()

    def aggregate(self) -> str:
        node = self.random.choice(self.nodes)
        return self.random.choice(
            ("count(*)", f"count({node})", f"count(DISTINCT {self.property()})", f"sum({node}.x)", f"min({node}.x)",
             f"max({node}.y)", f"collect({node}.x)", f"count({self.property()})", f"collect(DISTINCT {node}.y)")
        )  # fmt: skip

    # ── clauses ──────────────────────────────────────────────────────────────

    def unwind(self) -> str:
        name = self.name("v")
        self.values.append(name)
        return f"UNWIND {self.random.choice(('[1, 2]', '[]', '[null, 1]', 'range(0, 2)'))} AS {name}"

    def with_(self) -> str:
        kept = self.random.sample(self.nodes, self.random.randint(1, len(self.nodes)))
        if self.chance(0.5):
            name = self.name("v")
            text = f"WITH {', '.join(kept)}, {self.aggregate()} AS {name}"
            self.values = [name]
        else:
            text = f"WITH {self.random.choice(('', 'DISTINCT '))}{', '.join(kept)}"
            self.values = []
        self.nodes, self.relationships = kept, []
        return text

    def last(self) -> str:
        values = [self.shown() for _ in range(self.random.randint(1, 3))]
        if self.chance(0.35):
            values.append(self.aggregate())
        names = [f"c{number}" for number in range(len(values))]
        items = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
        text = f"RETURN {'DISTINCT ' if self.chance(0.2) else ''}{items}"
        if self.chance(0.25):
            ways = [f"{name}{self.random.choice(('', ' DESC'))}" for name in names]
            text += f" ORDER BY {', '.join(ways)}{self.random.choice(('', ' LIMIT 3', ' SKIP 1', ' SKIP 1 LIMIT 2'))}"
        return text


def query(random: Random) -> str:
    """A query in both readings."""
    return Author(random).query()


def ours(text: str) -> str:
    """As our engine reads it."""
    return re.sub(r"<([a-z]\d*)>", r"id(\1)", text.replace("{a}", "").replace("{&}", ":"))


def theirs(text: str, label: str) -> str:
    """As Neo4j reads it, among the nodes with a label."""
    return re.sub(r"<([a-z]\d*)>", r"\1.id", text.replace("{a}", f":{label}").replace("{&}", f":{label}&"))
