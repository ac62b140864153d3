"""Studio, served from bundled files under a strict Content-Security-Policy.

`make web` builds the files from npm packages. Without them, for clients that are no browsers, and while the store does
not answer, `/` is the landing page. The files hold nothing of the store: whoever may not ask learns nothing from them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from ugs_gateway.http.static_assets import list_assets, serve_asset
from ugs_gateway.observability.health import why_not_ready
from ugs_gateway.rest import landing_page

FOLDER = Path(__file__).parents[1] / "static" / "studio"

# `data:` is the empty icon of the page. A WebSocket to the same host counts as 'self'.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def is_built() -> bool:
    return (FOLDER / "index.html").is_file()


@cache
def assets() -> dict[str, Path]:
    """The asset files by name."""
    return list_assets(FOLDER)


async def front_page(request: Request) -> Response:
    """Studio for browsers, if it is built and the store answers; else the landing page."""
    asks_for_html = "text/html" in request.headers.get("accept", "")
    if not (asks_for_html and is_built()) or await why_not_ready(request.app.state.system) is not None:
        return await landing_page.front_page(request)
    text = (FOLDER / "index.html").read_bytes()
    return Response(text, media_type="text/html", headers={"content-security-policy": POLICY, "vary": "accept"})


async def asset(request: Request) -> Response:
    """One of its files."""
    return await serve_asset(request, assets(), POLICY)
