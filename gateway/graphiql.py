"""GraphiQL, served from files of our own: it works without a network and under a strict policy.

The files are built from npm packages by `make web`. Without them a plain page says how to ask and how to get them.
"""

from __future__ import annotations

import mimetypes
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateway.media import packed
from gateway.pages import how_to_ask

FOLDER = Path(__file__).parent / "static" / "graphiql"

# Scripts and workers only from here. The editor sets styles on elements, so inline styles must be allowed.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOREVER = "public, max-age=31536000, immutable"


def is_built() -> bool:
    return (FOLDER / "index.html").is_file()


@cache
def assets() -> dict[str, Path]:
    """The files by name; nothing else can be asked for, however its name is written."""
    return {path.name: path for path in (FOLDER / "assets").iterdir() if path.is_file()} if is_built() else {}


def graphiql_page(request: Request) -> Response:
    """GraphiQL, or how to ask without it."""
    if not is_built():
        return how_to_ask(request)
    text = (FOLDER / "index.html").read_bytes()
    return Response(text, media_type="text/html", headers={"content-security-policy": POLICY})


async def asset(request: Request) -> Response:
    """One file of GraphiQL. Names with a hash never change; workers have none and are asked about each time."""
    path = assets().get(request.path_params["name"])
    if path is None:
        raise HTTPException(404)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {
        "content-type": "text/javascript; charset=utf-8" if path.suffix == ".js" else kind,
        "cache-control": "no-cache" if path.name.endswith(".worker.js") else FOREVER,
        "content-security-policy": POLICY,
    }
    return packed(request, path.read_bytes(), 200, headers)
