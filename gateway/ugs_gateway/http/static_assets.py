"""Files of a web page that is built into the package: which there are, and how one is served."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ugs_gateway.http.content_negotiation import compressed_response

IMMUTABLE = "public, max-age=31536000, immutable"


def list_assets(folder: Path) -> dict[str, Path]:
    """The asset files of a page by name. Only names in this dictionary are served, so path traversal is impossible."""
    if not (folder / "index.html").is_file():
        return {}
    return {path.name: path for path in (folder / "assets").iterdir() if path.is_file()}


def list_files(folder: Path) -> dict[str, Path]:
    """All files of a site by their path in its folder; an `index.html` by the path of its folder, too."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return files | {name.removesuffix("index.html"): path for name, path in files.items() if path.name == "index.html"}


async def serve_asset(request: Request, assets: dict[str, Path], policy: str) -> Response:
    """The asset that the path names. Names with a content hash are cached for ever; workers of a fixed name have none
    and are revalidated."""
    path = assets.get(request.path_params["name"])
    if path is None:
        raise HTTPException(404)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {
        "content-type": "text/javascript; charset=utf-8" if path.suffix == ".js" else kind,
        "cache-control": "no-cache" if path.name.endswith(".worker.js") else IMMUTABLE,
        "content-security-policy": policy,
    }
    return await compressed_response(request, path.read_bytes(), 200, headers)
