"""OAuth 2.0 protected-resource metadata (RFC 9728): tells a client that is refused at `/mcp` where to get a token.

Served where the public address of the gateway and the issuer of its tokens are set. The document is public.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ugs_gateway.settings import Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
RESOURCE_PATH = "/mcp"
HEADERS = {"access-control-allow-origin": "*", "cache-control": "public, max-age=3600"}
"""Clients in web pages read it, too; it holds nothing that is not for everybody."""


def is_published(settings: Settings) -> bool:
    """Whether there is an issuer to lead clients to, and an address to call the resource by."""
    return bool(settings.public_url and settings.jwt_issuer and (settings.jwt_key_file or settings.jwt_keys_url))


def resource_url(settings: Settings) -> str:
    """The identifier of the resource: the public address of `/mcp`."""
    return settings.public_url.rstrip("/") + RESOURCE_PATH


def metadata_url(settings: Settings) -> str:
    """Where the metadata is: the well-known path stands between the host and the path of the resource."""
    parts = urlsplit(resource_url(settings))
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}"


def challenge(settings: Settings) -> str:
    """The value of `WWW-Authenticate` at `/mcp`."""
    return f'Bearer resource_metadata="{metadata_url(settings)}"' if is_published(settings) else "Bearer"


def metadata_routes(settings: Settings) -> list[Route]:
    """The document at its own address, and at the root for clients that look there."""
    if not is_published(settings):
        return []
    document = msgspec.json.encode(
        {
            "resource": resource_url(settings),
            "authorization_servers": [settings.jwt_issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "UGS Gateway",
        }
    )

    async def answer(request: Request) -> Response:
        return Response(document, media_type="application/json", headers=HEADERS)

    paths = dict.fromkeys([urlsplit(metadata_url(settings)).path, WELL_KNOWN + RESOURCE_PATH, WELL_KNOWN])
    return [Route(path, answer, methods=["GET"]) for path in paths]
