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
        self.lists: list[str] = []
        """Variables inside quantified paths, which are lists."""
        self.paths: list[str] = []
        self.quantifies = False
        """Whether the present MATCH is written with quantifiers."""
        self.repeats = 0
        """How many quantifiers it may still have."""
        self._names = 0

    def query(self) -> str:
        if self.chance(0.12):
            return self.random.choice((self.shortest, self.selected, self.procedure, self.union, self.hinted))()
        parts = ["CYPHER 5"] if self.chance(0.03) else []
        parts.append(self.match())
        clauses = (self.match, self.optional, self.unwind, self.with_, self.call, self.call, self.select, self.page)
        for _ in range(self.random.choice((0, 0, 0, 1, 1, 2))):
            parts.append(self.random.choice(clauses)())
        return " ".join([*parts, self.last()])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    # ── patterns ─────────────────────────────────────────────────────────────

    def match(self) -> str:
        # Neo4j wants variable lengths and quantifiers in different clauses.
        self.quantifies = self.chance(0.4)
        self.repeats = 1
        patterns = ", ".join(self.pattern() for _ in range(1 if self.chance(0.85) else 2))
        return f"MATCH {patterns}{self.where()}"

    def optional(self) -> str:
        self.quantifies, self.repeats = self.chance(0.4), 1
        before = list(self.nodes)
        text = f"OPTIONAL MATCH {self.pattern(self.random.choice(before) if before else None)}"
        return text + self.where()

    def pattern(self, start: str | None = None) -> str:
        known = start or (self.random.choice(self.nodes) if self.nodes and self.chance(0.6) else None)
        text = self.node(known)
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3))):
            repeats = self.quantifies and self.repeats > 0 and self.chance(0.2)
            step = self.repeated() if repeats else self.relationship()
            text += step + self.node(self.random.choice(self.nodes) if self.chance(0.15) else None)
        return text

    def repeated(self) -> str:
        """A quantified path, whose variables are lists outside."""
        one, other, link = self.name("g"), self.name("g"), self.name("q")
        left, right = self.arrow()
        where = self.random.choice(
            ("", "", f" WHERE {one}.x <= {other}.x", f" WHERE {link}.k > 0", f" WHERE {other}.y <> 'a'")
        )
        self.lists += [one, other, link]
        return f"(({one}{{a}}){left}[{link}{self.types()}]{right}({other}{{a}}){where}){self.quantifier()}"

    def quantifier(self) -> str:
        """One in each clause: the paths of several would be too many."""
        self.repeats -= 1
        return self.random.choice(("{1,2}", "{0,2}", "{2}", "{1,3}", "{,2}"))

    def arrow(self) -> tuple[str, str]:
        return self.random.choice((("-", "->"), ("<-", "-"), ("-", "-")))

    def types(self) -> str:
        """The types of a relationship, also as an expression; none for any."""
        one, other = self.random.sample(TYPES, 2)
        return self.random.choice(
            ("", "", f":{one}", f":{one}|{other}", f":!{one}", f":!{one}&!{other}", f" IS {one}|{other}", f":$('{one}')",
             f":$any(['{one}', '{other}'])", f":({one}|!{other})")
        )  # fmt: skip

    def labels(self) -> str:
        """A label expression of a pattern, behind the label that tells our nodes apart."""
        one, other = self.random.sample(LABELS, 2)
        return "{&}" + self.random.choice(
            (f"({one}|{other})", f"(!{one})", f"(!({one}|{other}))", f"({one}&!{other})", f"$('{one}')", f"$any(['{one}', '{other}'])",
             f"(!{one}|{other})")
        )  # fmt: skip

    def node(self, known: str | None = None) -> str:
        if known is not None:
            return f"({known})"
        name = self.name("n")
        label = f"{{&}}{self.random.choice(LABELS)}" if self.chance(0.4) else "{a}"
        properties = f" {{x: {self.random.randint(-2, 3)}}}" if self.chance(0.1) else ""
        self.nodes.append(name)
        if self.chance(0.1):
            return f"({name}{self.labels()}{properties})"
        test = self.random.choice(("x > 0", "x <= 1", "y <> 'a'", "z IS NOT NULL"))
        where = f" WHERE {name}.{test}" if self.chance(0.06) else ""
        return f"({name}{label}{properties}{where})"

    def relationship(self) -> str:
        left, right = self.random.choice((("-", "->"), ("<-", "-"), ("-", "-")))
        types = "|".join(self.random.sample((*TYPES, "RELATED"), self.random.choice((1, 1, 2))))
        types = f":{types}" if self.chance(0.6) else ""
        if self.quantifies:
            return self.modern_relationship(left, right)
        if self.chance(0.15):
            return f"{left}[{types}*{self.random.choice(('1..2', '0..2', '2..3', '1..3', '2'))}]{right}"
        name = self.name("r")
        self.relationships.append(name)
        properties = f" {{k: {self.random.randint(0, 3)}}}" if self.chance(0.1) else ""
        return f"{left}[{name}{types}{properties}]{right}"

    def modern_relationship(self, left: str, right: str) -> str:
        """A relationship as Cypher 5 writes it: type expressions, conditions, quantifiers."""
        name = self.name("r")
        where = f" WHERE {name}.k {self.random.choice(('> 0', '<> 1', 'IS NULL'))}" if self.chance(0.2) else ""
        if self.repeats > 0 and self.chance(0.25):
            self.lists.append(name)
            return f"{left}[{name}{self.types()}{where}]{right}{self.quantifier()}"
        self.relationships.append(name)
        return f"{left}[{name}{self.types()}{where}]{right}"

    def selector(self) -> str:
        count = self.random.randint(1, 3)
        return self.random.choice((f"SHORTEST {count}", f"SHORTEST {count} GROUPS", "ALL SHORTEST", "ANY SHORTEST"))

    def selected(self) -> str:
        """The shortest paths between all nodes; of equally long ones any may be chosen, so their lengths are shown."""
        left, right = self.arrow()
        quantifier = self.random.choice(("+", "*", "{1,3}", "{0,4}", "{2,3}"))
        step = f"{left}[{self.types()}]{right}{quantifier}"
        if self.chance(0.3):
            where = self.random.choice(("", " WHERE u.x <= w.x"))
            step = f"((u{{a}}){left}[{self.types()}]{right}(w{{a}}){where}){quantifier}"
        middle = self.random.choice(("", "", f"(m{{a}}){left}[{self.types()}]{right}"))
        where = self.random.choice(("", " WHERE n1.x > 0", " WHERE n1.x <= n2.x", " WHERE n2.y IS NOT NULL"))
        before = self.random.choice(("", "", "MATCH (n1{a}) ", "MATCH (n2{a}) ", "MATCH (n1{a}), (n2{a}) "))
        ends = ["" if name in before else "{a}" for name in ("n1", "n2")]
        pattern = f"(n1{ends[0]}){step}{middle}(n2{ends[1]})"
        return f"{before}MATCH p = {self.selector()} {pattern}{where} RETURN <n1> AS a, <n2> AS b, length(p) AS n"

    def select(self) -> str:
        """A selected path as a clause among others."""
        start, (left, right) = self.random.choice(self.nodes), self.arrow()
        name, path = self.name("n"), self.name("p")
        self.nodes.append(name)
        self.paths.append(path)
        optional = "OPTIONAL " if self.chance(0.3) else ""
        return f"{optional}MATCH {path} = {self.selector()} ({start}){left}[{self.types()}]{right}{{1,3}}({name}{{a}})"

    def procedure(self) -> str:
        """What a procedure lists, as far as our nodes have it: the database of Neo4j holds more."""
        return self.random.choice(
            ("CALL db.labels() YIELD label AS l MATCH (n{a}) WHERE l IN ['A', 'B', 'C'] AND l IN labels(n) RETURN l, count(n) AS c",
             "CALL db.relationshipTypes() YIELD relationshipType AS t MATCH (n{a})-[r]->(m{a}) WHERE type(r) = t RETURN t, sum(r.k) AS k",
             "CALL db.propertyKeys() YIELD propertyKey AS k WHERE k IN ['x', 'y', 'z'] MATCH (n{a}) WHERE n[k] IS NOT NULL "
             "RETURN k, count(*) AS c")
        )  # fmt: skip

    def union(self) -> str:
        word = self.random.choice(("UNION", "UNION ALL", "UNION DISTINCT"))
        one = f"{self.match()} RETURN {self.shown()} AS c"
        self.nodes, self.relationships, self.lists = [], [], []
        return f"{one} {word} {self.match()} RETURN {self.shown()} AS c"

    def hinted(self) -> str:
        label = self.random.choice(LABELS)
        return f"MATCH (n1{{&}}{label}) USING SCAN n1:{label} WHERE n1.x > 0 RETURN <n1> AS a"

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
             self.membership, self.existence, self.identity, self.type_test, self.box_test)
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
        one, other = self.random.sample(LABELS, 2)
        test = self.random.choice(
            (f":{one}", f":{one}", f":{one}|{other}", f":!{one}", f" IS {one}", f":{one}&!{other}")
        )
        return f"{self.random.choice(self.nodes)}{test}"

    def type_test(self) -> str:
        kind = self.random.choice(
            ("INTEGER", "STRING NOT NULL", "LIST<INTEGER>", "INTEGER | FLOAT", "BOOLEAN", "LIST<ANY> NOT NULL")
        )
        return f"{self.property()} IS {self.random.choice(('', 'NOT '))}:: {kind}"

    def point(self) -> str:
        node, number = self.random.choice(self.nodes), self.random.randint(-1, 2)
        return self.random.choice(
            (f"point({{x: {node}.x, y: {number}}})", f"point({{x: {number}, y: {node}.x}})", f"point({{x: {number}, y: 0}})",
             f"point({{longitude: {node}.x, latitude: {number}}})", f"point({{x: {node}.x, y: {number}, z: 1}})")
        )  # fmt: skip

    def box_test(self) -> str:
        if self.chance(0.5):
            return f"{self.point()} {self.random.choice(('=', '<>', '<=', '<'))} {self.point()}"
        return f"point.withinBBox({self.point()}, point({{x: -1, y: -1}}), point({{x: 1, y: 2}}))"

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
             lambda: f"'{self.random.choice(TEXTS)}'", lambda: "true", lambda: "null", self.computed)
        )()  # fmt: skip

    def computed(self) -> str:
        """A value made by what Cypher 5 adds to expressions."""
        node, key, text = self.random.choice(self.nodes), self.random.choice(KEYS), self.random.choice(TEXTS)
        choices = [
            f"({node}.y || '{text}')",
            f"trim(BOTH 'a' FROM {node}.y)",
            f"({node}.y IS NORMALIZED)",
            f"{node}['{key}']",
            f"valueType({node}.{key})",
            f"CASE {node}.x WHEN > 1 THEN 'big' WHEN IS NULL THEN 'none' WHEN 0, 1 THEN 'few' ELSE 'less' END",
            f"CASE {node}.y WHEN STARTS WITH 'a' THEN 1 WHEN = 'b' THEN 2 END",
            f"point.distance({self.point()}, {self.point()})",
            f"nullIf({node}.x, 0)",
            f"COUNT {{ ({node})--({self.name('m')}{{a}}) }}",
            "1_0",
            f"({node}.x < INF)",
        ]
        choices += [f"size({name})" for name in self.lists]
        choices += [f"length({name})" for name in self.paths]
        return self.random.choice(choices)

    def shown(self) -> str:
        choices: list[Callable[[], str]] = [self.property, self.property, self.computed]
        choices.append(lambda: f"<{self.random.choice(self.nodes)}>")
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

    def call(self) -> str:
        """A subquery for each row, which may have none, one or several rows, or none by its nature."""
        node, name, inner = self.random.choice(self.nodes), self.name("v"), self.name("m")
        left, right = self.arrow()
        pattern = f"MATCH ({node}){left}[{self.types()}]{right}({inner}{{a}})"
        body = self.random.choice(
            (f"{pattern} RETURN count({inner}) AS {name}",
             f"{pattern} RETURN {inner}.x AS {name} ORDER BY {name} LIMIT 2",
             f"{pattern} WHERE {inner}.x > {node}.x RETURN DISTINCT {inner}.y AS {name}",
             f"{pattern} RETURN max({inner}.x) AS {name}",
             f"{pattern} RETURN {inner}.x AS {name} UNION RETURN 7 AS {name}",
             f"CALL ({node}) {{ {pattern} RETURN count(*) AS c }} RETURN c + 1 AS {name}",
             f"UNWIND [1, 2] AS i RETURN {node}.x * i AS {name}")
        )  # fmt: skip
        if self.chance(0.1):
            return f"CALL ({node}) {{ {pattern} FINISH }}"
        self.values.append(name)
        if "UNION" not in body and "CALL" not in body and self.chance(0.15):
            return f"CALL {{ WITH {node} {body} }}"
        scope = self.random.choice((f"({node})", f"({node})", "(*)"))
        return f"{'OPTIONAL ' if self.chance(0.25) else ''}CALL {scope} {{ {body} }}"

    def with_(self) -> str:
        kept = self.random.sample(self.nodes, self.random.randint(1, len(self.nodes)))
        if self.chance(0.5):
            name = self.name("v")
            text = f"WITH {', '.join(kept)}, {self.aggregate()} AS {name}"
            self.values = [name]
        else:
            text = f"WITH {self.random.choice(('', 'DISTINCT '))}{', '.join(kept)}"
            self.values = []
        self.nodes, self.relationships, self.lists, self.paths = kept, [], [], []
        return text

    def page(self) -> str:
        """Clauses of their own; which rows a smaller page has would be left open."""
        order = f"ORDER BY {self.random.choice(self.nodes)}.x{self.random.choice(('', ' DESC'))}"
        return self.random.choice((order, f"{order} SKIP 0", "LIMIT 100000", "OFFSET 0 LIMIT 100000"))

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
