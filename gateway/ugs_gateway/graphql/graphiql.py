"""GraphiQL, served from bundled files: works offline and under a strict Content-Security-Policy.

`make web` builds the files from npm packages. Without them a plain page explains how to query and how to build them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from ugs_gateway.http.static_assets import list_assets, serve_asset
from ugs_gateway.rest.landing_page import how_to_ask

FOLDER = Path(__file__).parents[1] / "static" / "graphiql"

# Scripts and workers only from here. The editor sets styles on elements, so inline styles must be allowed.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def is_built() -> bool:
    return (FOLDER / "index.html").is_file()


@cache
def assets() -> dict[str, Path]:
    """The asset files by name."""
    return list_assets(FOLDER)


def graphiql_page(request: Request) -> Response:
    """GraphiQL, or the plain page if it is not built."""
    if not is_built():
        return how_to_ask(request)
    text = (FOLDER / "index.html").read_bytes()
    return Response(text, media_type="text/html", headers={"content-security-policy": POLICY})


async def asset(request: Request) -> Response:
    """One asset of GraphiQL."""
    return await serve_asset(request, assets(), POLICY)
