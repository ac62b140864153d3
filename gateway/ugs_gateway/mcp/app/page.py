"""The page of the MCP App, with a policy that allows its own script and style and nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

GRAPH_PAGE = "ui://ugs/graph"
APP_TYPE = "text/html;profile=mcp-app"
PAGE_META = {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}
"""What hosts are told of the page: it needs no other origin."""
TOOL_META = {"ui": {"resourceUri": GRAPH_PAGE}}
"""What a tool says whose answers the page shows."""


@cache
def graph_page() -> str:
    """The page as it is served."""
    text = files(__package__).joinpath("graph.html").read_text("utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return text.replace("POLICY", policy, 1)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
