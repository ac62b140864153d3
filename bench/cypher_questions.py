"""openCypher questions, each in the words of everybody who answers it.

`$$` stands for the label of our nodes in Neo4j. SQL is what somebody who knows our tables would write by hand, and that
an edge may lead nowhere; where the databases differ it is given for each. A side without words for a question does not
take part in it.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from bench import data

ANCHORED = ("hop1", "hop2", "hop3", "walk")
"""Questions that start at a node: their cost must grow with the answer, not with the graph."""
HOPS = ("hop1", "hop2")


class Question(Struct, frozen=True):
    """One kind of question."""

    title: str
    ours: str
    neo4j: str
    ladybug: str | None = None
    grand: str | None = None
    sqlite: str | None = None
    postgresql: str | None = None


def _sql(text: str) -> tuple[str, str]:
    """The same statement for SQLite and PostgreSQL.

    `NAME(x)` is a property of a row of nodes. SQLite has no statistics: a sign before a type keeps it from choosing the
    index of types, as somebody would who had looked at its plan.
    """
    return (
        text.replace("@id", "?1").replace("NAME(", "json_extract(").replace("|name", ", '$.name'").replace("~", "+"),
        text.replace("@id", "$1").replace("NAME(", "(").replace("|name", "::json->>'name'").replace("~", ""),
    )


HOP1 = _sql(
    "SELECT NAME(b.properties|name) FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "WHERE a.id = @id AND ~e.type = 'knows'"
)
HOP2 = _sql(
    "SELECT NAME(c.properties|name) FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "JOIN edges f ON f.source = b.id JOIN nodes c ON c.id = f.target "
    "WHERE a.id = @id AND ~e.type = 'knows' AND ~f.type = 'owns'"
)
HOP3 = _sql(
    "SELECT count(*) FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "JOIN edges f ON f.source = b.id JOIN nodes c ON c.id = f.target JOIN edges g ON g.source = c.id "
    "JOIN nodes d ON d.id = g.target WHERE a.id = @id AND f.id <> e.id AND g.id <> e.id AND g.id <> f.id"
)
GROUP = _sql(
    "SELECT b.type, count(*) FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "WHERE a.type = 'metric' AND ~e.type = 'owns' GROUP BY b.type"
)
WALK = _sql(
    "WITH RECURSIVE w(node, depth) AS (SELECT id, 0 FROM nodes WHERE id = @id UNION SELECT b.id, w.depth + 1 FROM w "
    "JOIN edges e ON e.source = w.node JOIN nodes b ON b.id = e.target WHERE w.depth < 4 AND ~e.type = 'knows') "
    "SELECT count(DISTINCT node) FROM w WHERE depth > 0"
)
TYPES = _sql(
    "SELECT count(*) FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "WHERE a.type = 'metric' AND ~e.type IN ('knows', 'owns') AND ~b.type IN ('person', 'company')"
)
TOP_SQLITE = (
    "SELECT name, other FROM (SELECT json_extract(a.properties, '$.name') AS name, "
    "json_extract(b.properties, '$.name') AS other, row_number() OVER (PARTITION BY a.id "
    "ORDER BY json_extract(b.properties, '$.score') DESC, b.id) AS place "
    "FROM nodes a JOIN edges e ON e.source = a.id JOIN nodes b ON b.id = e.target "
    "WHERE a.type = 'person' AND json_extract(a.properties, '$.score') > 99.5) WHERE place <= 2"
)
TOP_POSTGRESQL = (
    "SELECT a.properties::json->>'name', b.other FROM nodes a CROSS JOIN LATERAL ("
    "SELECT b.properties::json->>'name' AS other FROM edges e JOIN nodes b ON b.id = e.target WHERE e.source = a.id "
    "ORDER BY (b.properties::json->>'score')::float8 DESC, b.id LIMIT 2) b "
    "WHERE a.type = 'person' AND (a.properties::json->>'score')::float8 > 99.5"
)
QUESTIONS = {
    "hop1": Question(
        "one hop",
        "MATCH (a)-[:knows]->(b) WHERE id(a) = $id RETURN b.name",
        "MATCH (a:$$ {id: $id})-[:knows]->(b:$$) RETURN b.name",
        "MATCH (a:N {id: $id})-[:knows]->(b:N) RETURN b.name",
        "MATCH (a {id: $id})-[:knows]->(b) RETURN b.name",
        *HOP1,
    ),
    "hop2": Question(
        "two hops",
        "MATCH (a)-[:knows]->(b)-[:owns]->(c) WHERE id(a) = $id RETURN c.name",
        "MATCH (a:$$ {id: $id})-[:knows]->(b:$$)-[:owns]->(c:$$) RETURN c.name",
        "MATCH (a:N {id: $id})-[:knows]->(b:N)-[:owns]->(c:N) RETURN c.name",
        "MATCH (a {id: $id})-[:knows]->(b)-[:owns]->(c) RETURN c.name",
        *HOP2,
    ),
    "hop3": Question(
        "three hops, counted",
        "MATCH (a)-->(b)-->(c)-->(d) WHERE id(a) = $id RETURN count(*)",
        "MATCH (a:$$ {id: $id})-->(b:$$)-->(c:$$)-->(d:$$) RETURN count(*)",
        None,
        None,
        *HOP3,
    ),
    "filter": Question(
        "filter on a property",
        "MATCH (n:person) WHERE n.score > 99.5 RETURN n.name",
        "MATCH (n:person:$$) WHERE n.score > 99.5 RETURN n.name",
        "MATCH (n:N) WHERE n.type = 'person' AND n.score > 99.5 RETURN n.name",
        "MATCH (n:person) WHERE n.score > 99.5 RETURN n.name",
        "SELECT json_extract(properties, '$.name') FROM nodes "
        "WHERE type = 'person' AND json_extract(properties, '$.score') > 99.5",
        "SELECT properties::json->>'name' FROM nodes "
        "WHERE type = 'person' AND (properties::json->>'score')::float8 > 99.5",
    ),
    "group": Question(
        "grouping",
        "MATCH (a:metric)-[:owns]->(b) RETURN labels(b)[0], count(*)",
        "MATCH (a:metric:$$)-[:owns]->(b:$$) RETURN b._type, count(*)",
        "MATCH (a:N)-[:owns]->(b:N) WHERE a.type = 'metric' RETURN b.type, count(*)",
        None,
        *GROUP,
    ),
    "walk": Question(
        "walk of 1 to 4, distinct ends",
        "MATCH (a)-[:knows*1..4]->(b) WHERE id(a) = $id RETURN count(DISTINCT b)",
        "MATCH (a:$$ {id: $id})-[:knows*1..4]->(b:$$) RETURN count(DISTINCT b)",
        "MATCH (a:N {id: $id})-[:knows*1..4]->(b:N) RETURN count(DISTINCT b)",
        None,
        *WALK,
    ),
    "types": Question(
        "two types, two labels, counted",
        "MATCH (a:metric)-[:knows|owns]->(b:person|company) RETURN count(*)",
        "MATCH (a:metric&$$)-[:knows|owns]->(b:$$&(person|company)) RETURN count(*)",
        "MATCH (a:N)-[:knows|owns]->(b:N) WHERE a.type = 'metric' AND b.type IN ['person', 'company'] RETURN count(*)",
        None,
        *TYPES,
    ),
    "top": Question(
        "two best of each row, by CALL",
        "MATCH (a:person) WHERE a.score > 99.5 "
        "CALL (a) { MATCH (a)-->(b) RETURN b.name AS name ORDER BY b.score DESC, id(b) LIMIT 2 } RETURN a.name, name",
        "MATCH (a:person&$$) WHERE a.score > 99.5 "
        "CALL (a) { MATCH (a)-->(b:$$) RETURN b.name AS name ORDER BY b.score DESC, b.id LIMIT 2 } RETURN a.name, name",
        None,
        None,
        TOP_SQLITE,
        TOP_POSTGRESQL,
    ),
    "shortest": Question(
        "shortest path",
        "MATCH p = shortestPath((a)-[*..12]->(b)) WHERE id(a) = $id AND id(b) = $to RETURN length(p)",
        "MATCH (a:$$ {id: $id}), (b:$$ {id: $to}) MATCH p = shortestPath((a)-[*..12]->(b)) RETURN length(p)",
    ),
}


def arguments_for(size: int) -> list[tuple[str, str]]:
    """Where questions start, and where paths end: well connected nodes, but no hubs."""
    random = Random(13)
    return [
        (data.node_id(random.randrange(size // 100, size // 4)), data.node_id(random.randrange(size // 100, size // 4)))
        for _ in range(40)
    ]
