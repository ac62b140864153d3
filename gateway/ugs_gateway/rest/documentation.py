"""The documentation of this version at `/docs/`, from bundled files under a strict Content-Security-Policy.

`make docs` builds the files. They hold nothing of the store.
"""

from __future__ import annotations

import mimetypes
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ugs_gateway.http.content_negotiation import compressed_response
from ugs_gateway.http.static_assets import list_files
from ugs_gateway.rest import landing_page

FOLDER = Path(__file__).parents[1] / "static" / "docs"

POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
NOT_BUILT = (
    "<h1>Documentation</h1><p>The site is not built here: <code>make docs</code> builds it. "
    "The same pages are in the folder <code>docs</code> of the project.</p>"
)


@cache
def files() -> dict[str, Path]:
    """The files of the site by path. Only names in this dictionary are served, so path traversal is impossible."""
    return list_files(FOLDER)


async def redirect(request: Request) -> Response:
    """Where the documentation begins."""
    return RedirectResponse("/docs/")


async def page(request: Request) -> Response:
    """A page or another file of the site."""
    name = request.path_params["page"]
    if not files():
        return landing_page.page("Documentation", NOT_BUILT, 404)
    path = files().get(name)
    if path is None and f"{name}/" in files():
        return RedirectResponse(f"/docs/{name}/")
    if path is None:
        lost = '<h1>No such page</h1><p><a href="/docs/">The documentation</a> begins elsewhere.</p>'
        return landing_page.page("No such page", lost, 404)
    kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
    kind = kind or "application/octet-stream"
    is_text = kind.startswith("text/") or kind == "application/json"
    headers = {
        "content-type": f"{kind}; charset=utf-8" if is_text else kind,
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
    }
    return await compressed_response(request, path.read_bytes(), 200, headers)
