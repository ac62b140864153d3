"""Queries for each feature of Cypher 5 beyond openCypher 9, in both notations of `query_generator`.

`{&}` before a label expression in brackets adds the label that tells our nodes apart in Neo4j.
"""

from __future__ import annotations

QUERIES: dict[str, tuple[str, ...]] = {
    "CALL subquery": (
        "MATCH (n{a}) CALL (n) { MATCH (n)-->(m{a}) RETURN m.x AS y ORDER BY y LIMIT 1 } RETURN <n> AS a, y",
        "MATCH (n1{a}) CALL { WITH n1 MATCH (n1)-->(m{a}) RETURN count(m) AS y } RETURN <n1> AS a, y",
        "CALL { MATCH (n{a}) RETURN n.x AS x UNION MATCH (m{a}) RETURN m.y AS x } RETURN x",
        "MATCH (n1{a}) OPTIONAL CALL (n1) { MATCH (n1)-[:R]->(m1{a}) RETURN m1 } RETURN <n1> AS a, m1.x AS b",
        "UNWIND [1, 2] AS i CALL (*) { UNWIND [10, 20, 20] AS j RETURN DISTINCT i * j AS k } RETURN i, k ORDER BY i, k",
        "MATCH (n{a}) CALL (n) { MATCH (n)--(m{a}) WHERE m.x > n.x RETURN collect(m.x) AS xs } RETURN n.x AS x, xs",
        "UNWIND [1, 2] AS i CALL (i) { CALL (i) { RETURN i + 1 AS j } RETURN j * 10 AS k } RETURN i, k",
        "MATCH (n{a}) CALL () { MATCH (m{a}) RETURN max(m.x) AS top } WITH n, top WHERE n.x = top RETURN count(n) AS c",
        "UNWIND [1, null] AS i CALL (i) { WITH i WHERE i IS NULL RETURN 'none' AS t UNION ALL WITH i WHERE i = 1 "
        "RETURN 'one' AS t } RETURN i, t",
    ),
    "label expressions": (
        "MATCH (n{&}(A|B)) RETURN n.x AS x",
        "MATCH (n{&}(!A)) RETURN n.x AS x",
        "MATCH (n{&}(!(A|B)&!C)) RETURN count(*) AS c",
        "MATCH (n{a}) WHERE n:A|B AND n.x > 0 RETURN n.x AS x",
        "MATCH (n{a}) WHERE n IS A RETURN count(n) AS c",
        "MATCH (n{a})-[r:!R]->(m{a}) RETURN type(r) AS t, count(*) AS c",
        "MATCH (n{a})-[r:!R&!S]-(m{a}) RETURN r.k AS k, m.x AS x",
        "MATCH (n{a}) WITH collect(n) AS ns RETURN [m IN ns WHERE m:A | m.x] AS xs, size([m IN ns WHERE m:A|B | m]) AS s",
        "MATCH (n{&}(A|C))-[r:R|S]->(m{&}(B|C)) RETURN count(*) AS c",
        "MATCH (n{a})-[r IS R|S]->(m{a}) RETURN count(r) AS c",
    ),
    "WHERE in patterns": (
        "MATCH (n{a} WHERE n.x > 0) RETURN n.x AS x",
        "MATCH (n{a})-[r WHERE r.k > 0]->(m{a} WHERE m.x < 3) RETURN r.k AS k, m.x AS x",
        "OPTIONAL MATCH (n{a} WHERE n.x > 100)-->(m{a}) RETURN m.x AS x",
        "MATCH (n{a}) RETURN [(n)-->(m{a} WHERE m.x > 0) | m.x] AS xs",
        "MATCH (n{a}) WHERE EXISTS { (n)-[r:R WHERE r.k >= 1]->() } RETURN n.x AS x",
        "MATCH (n{a} WHERE n.y IS NOT NULL)--(m{a} WHERE m.x IN [0, 1]) RETURN n.y AS y, m.x AS x",
        "MATCH (n{a}), (m{a} WHERE m.x = n.x) RETURN count(*) AS c",
    ),
    "quantified paths": (
        "MATCH (n{a})-[:R]->+(m{a}) RETURN n.x AS x, m.x AS y",
        "MATCH (n{a})-[r]->{1,3}(m{a}) RETURN size(r) AS s, m.x AS y",
        "MATCH (n{a})-[:R|S]-{2}(m{a}) RETURN count(*) AS c",
        "MATCH (n{a} {x: 1})-[r:!T]->{0,2}(m{a}) RETURN size(r) AS s, m.x AS y",
        "MATCH (n{a})((u{a})-[r]->(v{a}) WHERE u.x < v.x){1,4}(m{a}) RETURN [z IN u | z.x] AS xs, [z IN r | z.k] AS ks, m.x AS y",
        "MATCH (n{a})((u)-[r WHERE r.k > 0]->(v)){1,3}(m{a}) RETURN size(u) AS s, [z IN v | z.x] AS xs",
        "MATCH (n{a}) ((u{a})-->(v{a})<--(w{a})){1,2} (m{a}) RETURN size(v) AS s, n.x AS x, m.x AS y",
        "MATCH p = (n{a} {x: 0})((u)-->(v)){0,2}(m{a}) RETURN length(p) AS l, m.x AS y",
        "MATCH (n{a}), (m{a}) WHERE <n> < <m> MATCH (n)((u)-[r]-(v)){1,2}(m) RETURN <n> AS a, <m> AS b, [z IN r | z.k] AS k",
        "MATCH ((u{a})-[:R]->(v{a})){2,3} RETURN [z IN u | z.x] AS xs",
    ),
    "path selectors": (
        "MATCH p = SHORTEST 1 (n{a})-->+(m{a}) RETURN <n> AS a, <m> AS b, length(p) AS l",
        "MATCH p = SHORTEST 2 (n{a})-[:R|S]-{1,4}(m{a}) RETURN <n> AS a, <m> AS b, length(p) AS l",
        "MATCH p = ALL SHORTEST (n{a})-->*(m{a}) RETURN <n> AS a, <m> AS b, length(p) AS l, [r IN relationships(p) | r.k] AS ks",
        "MATCH p = SHORTEST 2 GROUPS (n{a})((u{a})-[r]->(v{a}) WHERE u.x < v.x)+(m{a}) "
        "RETURN <n> AS a, <m> AS b, [z IN u | z.x] AS xs, [z IN r | z.k] AS ks",
        "MATCH p = ANY SHORTEST (n{a} {x: 0})-[:!T]->{0,3}(m{a})<--(q{a}) RETURN <n> AS a, <q> AS b, length(p) AS l",
        "MATCH p = ANY 2 PATHS (n{a})-[:R]->{1,3}(m{a} WHERE m.x > 0) RETURN <n> AS a, <m> AS b, count(p) AS c",
        "MATCH (n1{a}), (n2{a}) MATCH p = SHORTEST 1 PATH GROUP (n1)-[r WHERE r.k > 0]-+(n2) RETURN <n1> AS a, <n2> AS b, length(p) AS l",
        "MATCH (n{a}) OPTIONAL MATCH p = ALL SHORTEST (n)-[:S]->+(m{a}) RETURN <n> AS a, <m> AS b, length(p) AS l",
        "MATCH (n{a}) RETURN <n> AS a, COUNT { SHORTEST 1 (n)-->+(m{a}) } AS c, EXISTS { ANY (n)-[:T]->+(m2{a}) } AS e",
        "MATCH SHORTEST 1 ((n{a})-[r]->{1,4}(m{a}) WHERE size(r) > 1) RETURN <n> AS a, <m> AS b, size(r) AS s",
        "MATCH p = ALL SHORTEST (n{a})-->+(n) RETURN <n> AS a, length(p) AS l",
        "MATCH ALL SHORTEST (n{a})-[r]->+(m{a})-[q]->+(m) RETURN <n> AS a, <m> AS b, size(r) AS s, size(q) AS t",
    ),
    "points": (
        "UNWIND [point({x: 1, y: 2}), point({x: 1, y: 2, z: 3}), point({longitude: 190, latitude: 5}), point({x: 1, y: 2, "
        "crs: 'WGS-84'}), point({latitude: 1, longitude: 2, height: 3}), null] AS p "
        "RETURN toString(p) AS t, p.x AS x, p.y AS y, p.crs AS c, p.srid AS s, valueType(p) AS v",
        "MATCH (n{a}), (m{a}) WITH point({x: n.x, y: 1}) AS p, point({x: 0, y: m.x}) AS q RETURN point.distance(p, q) AS d, p = q AS e",
        "UNWIND [point({x: 1, y: 2}), point({x: 2, y: 1}), point({x: 1, y: 2, z: 3}), 1, null] AS p UNWIND [point({x: 1, y: 2}), "
        "point({x: 0, y: 1})] AS q RETURN p < q AS a, p <= q AS b, p > q AS c, p >= q AS d, p = q AS e, p <> q AS f",
        "MATCH (n{a}) WHERE point.withinBBox(point({x: n.x, y: 0}), point({x: 0, y: 0}), point({x: 2, y: 0})) RETURN n.x AS x",
        "UNWIND [179, -179, 0, 170] AS l RETURN point.withinBBox(point({longitude: l, latitude: 2}), "
        "point({longitude: 170, latitude: 0}), point({longitude: -170, latitude: 10})) AS w",
        "MATCH (n{a}) WITH point({longitude: coalesce(n.x, 7), latitude: 50}) AS p RETURN count(DISTINCT p) AS n, toString(min(p)) AS a, "
        "toString(max(p)) AS b",
        "UNWIND range(-2, 2) AS i RETURN round(point.distance(point({longitude: i * 30, latitude: i * 40}), "
        "point({longitude: 12.5, latitude: 56})), 3) AS d, round(point.distance(point({longitude: i, latitude: i, height: i * 500}), "
        "point({longitude: 1, latitude: 2, height: 3})), 3) AS e",
        "UNWIND [point({x: 2, y: 1}), point({longitude: 1, latitude: 2}), point({x: 1, y: 3}), [1], {a: 1}, date('2020-01-01'), 'a', null, "
        "point({x: 1, y: 2, z: 3}), point({longitude: 1, latitude: 2, height: 1})] AS v WITH v ORDER BY v "
        "WITH collect(valueType(v) + coalesce(toStringOrNull(v), '')) AS vs RETURN reduce(t = '', v IN vs | t + v) AS t",
        "RETURN point({x: null, y: 2}) AS a, point.distance(1, point({x: 1, y: 2})) AS b, point.distance(point({x: 1, y: 2}), "
        "point({x: 1, y: 2, z: 1})) AS c, point({x: 1, y: 2}) IN [point({x: 1, y: 2})] AS d",
    ),
    "vectors": (
        "UNWIND [[1, 2, 3], [3, 2, 1], [-1.5, 0, 2]] AS v RETURN round(vector.similarity.cosine(v, [1, 0.5, 2]), 5) AS c, "
        "round(vector.similarity.euclidean(v, [1, 0.5, 2]), 5) AS e",
        "RETURN vector.similarity.euclidean([1, 2], [1, 2]) AS a, vector.similarity.cosine([1, 0], [0, 1]) AS b",
        "RETURN vector.similarity.cosine(null, [1]) AS a, vector.similarity.euclidean([1], null) AS b",
        "UNWIND [[1e-20, 0], [1e30, 1], [0.1, 0.2]] AS v RETURN round(vector.similarity.cosine(v, [1, 1]), 5) AS c",
        "WITH [[1, 2], [2, 1], [3, 3]] AS vs UNWIND vs AS v WITH v, vector.similarity.cosine(v, [2, 1]) AS c ORDER BY c DESC LIMIT 2 "
        "RETURN v, round(c, 5) AS c",
        "MATCH (n{a}) WHERE n.x IS NOT NULL RETURN vector.similarity.euclidean([n.x, 1], [0, 1]) AS s",
    ),
    "concatenation": (
        "RETURN 'a' || 'b' || 'c' AS x",
        "RETURN [1] || [2, 3] AS x",
        "RETURN null || 'a' AS x",
        "RETURN [] || [null] AS x",
        "MATCH (n{a}) RETURN n.y || '!' AS x",
        "RETURN 'a' || 'b' = 'ab' AS x",
    ),
    "value types": (
        "UNWIND [1, 1.5, 'a', true, null, [1, 'a'], {a: 1}] AS v RETURN v IS :: INTEGER AS a, v IS NOT :: STRING NOT NULL AS b",
        "UNWIND [[], [1], [1, null], ['a', 1, 2.5], [[1], ['a']], [null]] AS v RETURN valueType(v) AS t",
        "UNWIND [[], [1], [1, null], ['a']] AS v RETURN v IS :: LIST<INTEGER> AS a, v IS :: LIST<INTEGER NOT NULL> AS b",
        "RETURN date() IS :: DATE AS a, duration('P1D') IS :: DURATION AS b, time() IS TYPED ZONED TIME AS c",
        "UNWIND [1, 'a', 2.5, null] AS v RETURN v IS :: INTEGER | STRING AS a, v :: ANY NOT NULL AS b",
        "MATCH (n{a})-[r]->() RETURN n IS :: NODE AS a, r IS :: RELATIONSHIP NOT NULL AS b, n IS :: MAP AS c",
        "UNWIND [1, null, true, 'x'] AS v RETURN valueType(v) AS t",
        "RETURN null IS :: NULL AS a, null IS :: NOTHING AS b, 1 IS :: ANY<INTEGER | STRING> AS c",
    ),
    "extended CASE": (
        "UNWIND [60, 2, null, 'x'] AS v RETURN CASE v WHEN > 50 THEN 'big' WHEN IS NULL THEN 'null' WHEN 1, 2, 3 THEN 'few' "
        "ELSE 'other' END AS c",
        "UNWIND ['ab', 'b', null] AS v RETURN CASE v WHEN STARTS WITH 'a' THEN 1 WHEN = 'b' THEN 2 ELSE 3 END AS c",
        "UNWIND [1, 2, 3] AS v RETURN CASE v WHEN <= 1, >= 3 THEN 'edge' ELSE 'middle' END AS c",
        "UNWIND [1, 'a', 2.5] AS v RETURN CASE v WHEN IS TYPED INTEGER THEN 'i' WHEN IS NOT TYPED STRING THEN 'f' ELSE 's' END AS c",
        "MATCH (n{a}) RETURN CASE n.x WHEN < 0 THEN 'neg' WHEN 0 THEN 'zero' WHEN > 0 THEN 'pos' END AS c",
        "RETURN CASE 5 WHEN 1, 2 THEN CASE 1 WHEN > 0 THEN 'x' END WHEN <> 4 THEN CASE 9 WHEN > 5 THEN 'y' END END AS c",
        "UNWIND ['ab', 'b', 'x'] AS v RETURN CASE v WHEN =~ 'a.*' THEN 1 WHEN ENDS WITH 'b' THEN 2 ELSE 3 END AS c",
    ),
    "dynamic labels": (
        "MATCH (n{&}$('A')) RETURN n.x AS x",
        "WITH 'B' AS l MATCH (n{&}$(l)) RETURN n.x AS x",
        "MATCH (n{&}$any(['A', 'B'])) RETURN n.x AS x",
        "MATCH (n{a})-[r:$('R')]->(m{a}) RETURN r.k AS k",
        "MATCH (n{a})-[r:$any(['R', 'S'])]->(m{a}) RETURN count(r) AS c",
        "WITH 'x' AS k MATCH (n{a}) RETURN n[k] AS x",
        "UNWIND ['A', 'B'] AS l MATCH (n{&}$(l)) RETURN l, count(n) AS c",
    ),
    "syntax": (
        "RETURN 1 AS x UNION DISTINCT RETURN 1 AS x",
        "RETURN 1_000_000 AS m, 0x_ff AS h, 1_0.2_5 AS f",
        "RETURN INF AS i, -Infinity AS j, NaN = NaN AS n, NaN <> NaN AS d",
        "RETURN trim(BOTH 'x' FROM 'xxaxx') AS a, trim(LEADING 'x' FROM 'xax') AS b, trim(TRAILING FROM ' a ') AS c",
        "RETURN 'a' IS NORMALIZED AS a, 'a' IS NOT NFD NORMALIZED AS b, normalize('a', NFC) AS c",
        "MATCH (n{a}) FINISH",
        "CYPHER 5 MATCH (n{a}) RETURN count(n) AS c",
        "UNWIND [1, 2] AS x CALL (x) { UNWIND [1] AS y FINISH } RETURN x",
    ),
}
