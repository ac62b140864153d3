"""The bare limit: hand-written routes with asyncpg and orjson that answer only the four questions; no GraphQL."""

import os
from contextlib import asynccontextmanager

import asyncpg
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

pool = None


class Connection(asyncpg.Connection):
    def get_reset_query(self) -> str:
        return ""


async def plain_json(connection) -> None:
    """JSON columns come and go as they are; the binary form has a version in front."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda body: b"\x01" + body,
        decoder=lambda body: bytes(body[1:]),
        format="binary",
    )


@asynccontextmanager
async def lifespan(app):
    global pool
    pool = await asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=10,
        max_size=10,
        connection_class=Connection,
        init=plain_json,
        server_settings={"search_path": os.environ["SCHEMA"], "jit": "off"},
    )
    yield
    await pool.close()


POINT = "SELECT id, type, properties, data, modified FROM gnodes WHERE id = $1"
LIST = "SELECT id, type, properties FROM gnodes WHERE type = $1 AND id > coalesce($2::text, '') ORDER BY id LIMIT 101"
NESTED = """
SELECT n.id, n.type, e1.id, e1.type, e1.weight, t1.id, t1.type, t1.properties,
       e2.id, e2.type, e2.weight, t2.id, t2.type, t2.properties
FROM gnodes n
LEFT JOIN LATERAL (SELECT * FROM gedges WHERE from_id = n.id ORDER BY id LIMIT 20) e1 ON true
LEFT JOIN gnodes t1 ON t1.id = e1.to_id
LEFT JOIN LATERAL (SELECT * FROM gedges WHERE from_id = t1.id ORDER BY id LIMIT 10) e2 ON true
LEFT JOIN gnodes t2 ON t2.id = e2.to_id
WHERE n.id = $1 ORDER BY e1.id, e2.id"""
ADD = "INSERT INTO gnodes (id, type, properties, data) VALUES ($1, $2, $3, $4) RETURNING id, type"


def answer(data: dict) -> Response:
    return Response(orjson.dumps({"data": data}), media_type="application/json")


async def point(given: dict) -> Response:
    id, type, properties, data, modified = await pool.fetchrow(POINT, given["id"])
    row = {"id": id, "type": type, "properties": orjson.Fragment(properties), "data": orjson.Fragment(data)}
    return answer({"node": {**row, "modified": modified}})


async def listing(given: dict) -> Response:
    rows = await pool.fetch(LIST, given["type"], given.get("after"))
    edges = [
        {"cursor": id, "node": {"id": id, "type": type, "properties": orjson.Fragment(properties)}}
        for id, type, properties in rows[:100]
    ]
    end = edges[-1]["cursor"] if edges else None
    return answer({"nodes": {"edges": edges, "pageInfo": {"hasNextPage": len(rows) > 100, "endCursor": end}}})


def edge_of(id, type, weight, target, target_type, properties) -> dict:
    node = {"id": target, "type": target_type, "properties": orjson.Fragment(properties)}
    return {"id": id, "type": type, "weight": weight, "target": node}


async def nested(given: dict) -> Response:
    rows = await pool.fetch(NESTED, given["id"])
    edges: dict = {}
    for row in rows:
        if row[2] is not None:
            if row[2] not in edges:
                edges[row[2]] = edge_of(*row[2:8])
                edges[row[2]]["target"]["edges"] = []
            if row[8] is not None:
                edges[row[2]]["target"]["edges"].append(edge_of(*row[8:14]))
    found = {"id": rows[0][0], "type": rows[0][1], "edges": list(edges.values())} if rows else None
    return answer({"node": found})


async def add(given: dict) -> Response:
    bodies = (orjson.dumps(given["properties"]), orjson.dumps(given["data"]))
    id, type = await pool.fetchrow(ADD, given["id"], given["type"], *bodies)
    return answer({"addNode": {"id": id, "type": type}})


QUESTIONS = {"Point": point, "List": listing, "Nested": nested, "Add": add}


async def serve(request: Request) -> Response:
    asked = orjson.loads(await request.body())
    name = asked["query"].partition("(")[0].split()[1]
    return await QUESTIONS[name](asked["variables"])


app = Starlette(routes=[Route("/graphql", serve, methods=["POST"])], lifespan=lifespan)
