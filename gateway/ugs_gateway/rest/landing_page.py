"""HTML pages for browsers: the state of the gateway and how to query it.

Plain HTML with one local style sheet: no external resources, no scripts, and everything from the store or the request
is escaped.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import ugs
from ugs.graph.queries import stats
from ugs.system import System
from ugs_gateway.observability.health import is_known, why_not_ready
from ugs_gateway.observability.redaction import without_secrets

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

ASK = """curl {address}graphql -H 'content-type: application/json' \\
     -d '{{"query":"{{ stats {{ nodes edges types properties }} }}"}}'"""

LINKS = (
    ("/graphql", "GraphQL", "the one door: GraphiQL for people, JSON for programs"),
    ("/schema.graphql", "Schema", "everything that can be asked, as SDL"),
    ("/docs/", "Documentation", "guides, reference and decisions of this version"),
    ("/health", "Health", "state, store, position and warnings, as JSON"),
    ("/readyz", "Ready", "200 when requests can be served"),
)


async def front_page(request: Request) -> Response:
    """The front page: state, counts and links."""
    system: System = request.app.state.system
    reason, known = await why_not_ready(system), is_known(request)
    parts = ["<h1>UGS Gateway</h1>", _state_line(reason if known or reason is None else "ask whoever runs it")]
    if known:
        parts += [await _numbers(system) if reason is None else "", _facts(system)]
    body = "\n".join([*parts, _query_example(request), _links()])
    return page("UGS Gateway", body, 200 if reason is None else 503)


def page(title: str, body: str, status: int = 200) -> Response:
    """A page around a body that is already escaped."""
    return HTMLResponse(PAGE.format(title=escape(title), body=body), status)


def _state_line(reason: str | None) -> str:
    if reason is None:
        return '<p class="state ready">Ready to serve.</p>'
    return f'<p class="state">Not ready: {escape(reason)}</p>'


async def _numbers(system: System) -> str:
    async with system.session() as session:
        counts = await stats(session)
        position = (await session.head()).position
    shown = {**counts.as_json(), "events": position}
    cells = "".join(f"<div><dt>{name}</dt><dd>{number:,}</dd></div>" for name, number in shown.items())
    return f'<dl class="numbers">{cells}</dl>'


def _facts(system: System) -> str:
    rows = [("Store", without_secrets(system.storage.describe())), ("Version", ugs.__version__)]
    rows += [("Warning", without_secrets(warning)) for warning in system.storage.warnings]
    return "<table>" + "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows) + "</table>"


def _query_example(request: Request) -> str:
    ask = ASK.format(address=request.base_url)
    return f'<h2>Ask something</h2><pre tabindex="0">{escape(ask)}</pre>'


def _links() -> str:
    from ugs_gateway.rest import documentation  # late: its pages are made by `page` here

    links = [link for link in LINKS if link[0] != "/docs/" or documentation.files()]
    items = "".join(f'<li><a href="{path}">{name}</a> {meaning}</li>' for path, name, meaning in links)
    return f"<h2>Go on</h2><ul>{items}</ul>"


def how_to_ask(request: Request) -> Response:
    """The page of `/graphql` for browsers if GraphiQL is not built."""
    body = (
        "<h1>GraphQL</h1><p>Programs ask here with <code>POST</code> and JSON. From a terminal:</p>"
        f'<pre tabindex="0">{escape(ASK.format(address=request.base_url))}</pre>'
        "<p>GraphiQL, the page to explore it with, is not built here: <code>make web</code> builds it and needs "
        "Node.js 20 or newer.</p>"
        '<p>Everything that can be asked: <a href="/schema.graphql">the schema</a>. '
        'What runs here: <a href="/">the front page</a>.</p>'
    )
    return page("GraphQL · UGS Gateway", body)


STYLE = (files("ugs_gateway") / "style.css").read_text("utf-8")


async def style(request: Request) -> Response:
    """The one style sheet."""
    return Response(STYLE, media_type="text/css")
