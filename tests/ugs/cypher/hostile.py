"""Queries that try to hold the event loop or the memory, one for each kind of work that the engine does."""

from __future__ import annotations

from collections.abc import Callable

from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

TEXT = "WITH reduce(s = 'abcdefgh', x IN range(1, 18) | s + s) AS t "
UMLAUTS = "WITH reduce(s = 'äbcdefgh', x IN range(1, 18) | s + s) AS t "
HOSTILE_QUERIES = {
    "nested comprehensions": "RETURN size([a IN range(1, 3000) | [b IN range(1, 3000) | a * b]]) AS n",
    "nested quantifiers": "RETURN all(a IN range(1, 9000) WHERE none(b IN range(1, 9000) WHERE a + b < 0)) AS n",
    "IN a long list": "WITH range(1, 2000000) AS l UNWIND range(1, 1000) AS x RETURN count(CASE WHEN -x IN l THEN 1 END) AS n",
    "pattern comprehension": "MATCH (a) RETURN size([(a)-->(b)-->(c)-->(d)-->(e) | b.name + e.name]) AS n",
    "sort": "UNWIND range(1, 2000000) AS x WITH x ORDER BY (x * 7919) % 1000003 RETURN count(x) AS n",
    "reduce": "UNWIND range(1, 50) AS y RETURN sum(reduce(s = y, x IN range(1, 2000000) | (s + x) % 1000003)) AS n",
    "substring": TEXT + "RETURN size([x IN range(1, 1000) | substring(t, x)]) AS n",
    "replace": TEXT + "RETURN size([x IN range(1, 1000) | replace(t, 'a', toString(x))]) AS n",
    "toUpper": UMLAUTS + "RETURN [x IN range(1, 1000) WHERE toUpper(t) = 'x'] AS n",
    "many patterns": "UNWIND range(1, 100000) AS x RETURN count(CASE WHEN 'a' =~ ('(a|b){1,900}' + toString(x)) THEN 1 END) AS n",
    "split": TEXT + "RETURN size([x IN range(1, 1000) | split(t, 'a')]) AS n",
    "concatenation": "RETURN size(reduce(s = [], x IN range(1, 200000) | s + [x])) AS n",
    "one long pattern": TEXT + "RETURN t =~ '(.*a.{12}b.{12}){1,90}' AS n",
    "answer of one value": TEXT + "RETURN [x IN range(1, 16000) | t] AS n",
    "answer of rows": TEXT + "UNWIND range(1, 16000) AS x RETURN t",
    "collect": "UNWIND range(1, 2000000) AS x RETURN size(collect(toString(x) + 'abc')) AS n",
    "distinct": "UNWIND range(1, 2000000) AS x WITH DISTINCT toString(x) AS t RETURN count(t) AS n",
    "greatest list": "WITH range(1, 1000000) AS l UNWIND range(1, 500) AS x RETURN size(max(l + [x])) AS n",
    "equal lists": "WITH [range(1, 1000000)] AS l RETURN [x IN range(1, 9999) WHERE l = [range(1, 1000000)]] AS n",
    "percentile": "UNWIND range(1, 2000000) AS x RETURN percentileCont((x * 7919) % 1000003, 0.5) AS n",
    "maps": "RETURN size([x IN range(1, 2000000) | {a: x, b: toString(x)}]) AS n",
    "pattern comprehension of rows": "RETURN size([(a)-->(b)-->(c)-->(d) | [a, b, c, d]]) AS n",
    "cross product": "MATCH (a), (b), (c), (d), (e) RETURN count(*) AS n",
    "long paths": "MATCH (a)-[*1..12]->(b) RETURN count(*) AS n",
    "wide rows": f"WITH {', '.join(f'{n} AS a{n}' for n in range(900))} UNWIND range(1, 1000000) AS x WITH * ORDER BY x DESC RETURN count(x) AS n",
    "normal forms": UMLAUTS + "RETURN [x IN range(1, 1000) WHERE normalize(t, 'NFKD') = 'x'] AS n",
    "subqueries": "MATCH (a) RETURN sum(COUNT { MATCH (a)-->(b)-->(c)-->(d)-->(e) RETURN e }) AS n",
    "product of ranges": "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x * y) AS n",
    "sort by computed texts": "UNWIND range(1, 2000000) AS x WITH x ORDER BY toString(x) + 'abc' + toString(x % 7) RETURN count(x) AS n",
    "sort by lists": "UNWIND range(1, 500000) AS x WITH x ORDER BY [x % 7, toString(x)] RETURN count(x) AS n",
    "collect of collect": "UNWIND range(1, 2000) AS x UNWIND range(1, 2000) AS y WITH x, collect(y) AS l RETURN size(collect(l)) AS n",
    "doubling a list": "RETURN size(reduce(s = [1], x IN range(1, 60) | s + s)) AS n",
    "growing by replace": "RETURN size(reduce(s = 'a', x IN range(1, 40) | replace(s, 'a', 'aa'))) AS n",
    "nested equal lists": "RETURN reduce(s = [1], x IN range(1, 100) | [s, s]) = reduce(s = [1], x IN range(1, 100) | [s, s]) AS n",
    "tail": "RETURN size(reduce(s = range(1, 200000), x IN range(1, 200000) | tail(s))) AS n",
    "contains": TEXT + "RETURN [x IN range(1, 100000) WHERE t CONTAINS ('aaaaaaaaaaaaaaaab' + toString(x))] AS n",
    "groups by lists": "WITH range(1, 10000) AS l UNWIND range(1, 100000) AS x WITH l + [x] AS k, count(*) AS c RETURN count(k) AS n",
    "durations": "UNWIND range(1, 1000000) AS x RETURN count(duration({days: x, hours: x}) + duration('P1Y2M3DT4H')) AS n",
    "optional matches": "MATCH (a) OPTIONAL MATCH (a)-->(b)-->(c)-->(d)-->(e) RETURN count(e) AS n",
    "union": "UNWIND range(1, 9000) AS x RETURN [x] AS r UNION UNWIND range(1, 2000000) AS x RETURN [x % 9000] AS r",
}  # fmt: skip


HOSTILE_QUERIES |= {
    "quantified paths": "MATCH ((a)--(b)){1,50} RETURN count(*) AS n",
    "conditions of quantified paths": "MATCH ((a)--(b) WHERE EXISTS { (a)--(b)--() }){1,10} RETURN count(*) AS n",
    "very many shortest paths": "MATCH SHORTEST 9223372036854775807 (a)-[*]-(b) RETURN count(*) AS n",
    "groups of shortest paths": "MATCH SHORTEST 1000 GROUPS (a)((x)--(y))+(b) RETURN count(*) AS n",
    "calls in calls": "MATCH (a) CALL (a) { MATCH (b) CALL (b) { MATCH (c), (d), (e) RETURN count(c) AS k } RETURN sum(k) AS s } RETURN sum(s) AS n",
    "a call for each row": "UNWIND range(1, 100000) AS x CALL (x) { UNWIND range(1, 1000) AS y RETURN sum(x * y) AS s } RETURN sum(s) AS n",
    "distances": "UNWIND range(1, 2000000) AS x RETURN sum(point.distance(point({latitude: x % 90, longitude: x % 180}), point({latitude: 1, longitude: 2}))) AS n",
    "type of a nested value": "RETURN valueType(reduce(s = [1], x IN range(1, 90) | [s, s])) AS n",
    "type of a long list": "WITH range(1, 2000000) AS l UNWIND range(1, 1000) AS x WITH l, x WHERE l IS :: LIST<INTEGER NOT NULL> RETURN count(*) AS n",
    "very many labels": "MATCH (n:$all([x IN range(1, 200000) | 'L' + toString(x)])) RETURN count(n) AS n",
    "a label for each row": "UNWIND range(1, 1000000) AS x MATCH (n:$('L' + toString(x))) RETURN count(n) AS n",
    "likeness of vectors": "WITH [x IN range(1, 4000) | x * 1.0] AS v UNWIND range(1, 100000) AS x RETURN sum(vector.similarity.cosine(v, v)) AS n",
    "lists of conversions": "WITH [x IN range(1, 1000000) | toString(x)] AS l UNWIND range(1, 1000) AS x RETURN sum(size(toIntegerList(l))) AS n",
    "map projections": "MATCH (a), (b) UNWIND range(1, 1000) AS x RETURN count(a {.*, k: x, l: [y IN range(1, 100) | y]}) AS n",
    "times out of texts": "UNWIND range(1, 2000000) AS x RETURN count(datetime('2026-01-01T00:00:00[Europe/Berlin]')) AS n",
}  # fmt: skip
"""What came with Cypher 5."""
LONG_PATTERNS: dict[str, Callable[[int], str]] = {
    "a chain": lambda size: "MATCH " + "-->".join(["()"] * size) + " RETURN 1",
    "a chain both ways": lambda size: "MATCH " + "--".join(["(:A)"] * size) + " RETURN 1",
    "a chain of properties": lambda size: "MATCH " + "-->".join(["({a:1,b:2})"] * size) + " RETURN 1",
    "a chain of dependent properties": lambda size: (
        "MATCH " + "-->".join(f"(a{n}{{a:a{max(0, n - 1)}.b}})" for n in range(size)) + " RETURN 1"
    ),
    "many nodes": lambda size: "MATCH " + ", ".join(["(:A)"] * size) + " RETURN 1",
    "many pairs": lambda size: "MATCH " + ", ".join(["(:A)--(:B)"] * size) + " RETURN 1",
    "a star": lambda size: "MATCH (n)" + ", (n)-->(:A)" * size + " RETURN 1",
    "many properties of a node": lambda size: "MATCH (n {" + ", ".join(f"p{n}: 1" for n in range(size)) + "}) RETURN 1",
}
"""Patterns of so many elements, each in one MATCH: what they could hold up is the planner."""
HOSTILE_QUERIES |= {f"planning {name}": make(700) for name, make in LONG_PATTERNS.items()}


async def build_dense_graph(system: System, count: int = 30) -> None:
    """So many nodes, each with an edge to every other."""
    names = [f"n{number}" for number in range(count)]
    await system.execute(
        Batch(operations=tuple(AddNode(id=name, type="N", properties={"name": name}) for name in names))
    )
    edges = [AddEdge(id=None, source=a, target=b, type="R") for a in names for b in names if a != b]
    for start in range(0, len(edges), 500):
        await system.execute(Batch(operations=tuple(edges[start : start + 500])))
