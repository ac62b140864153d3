"""ugs health: ask a running gateway whether it can serve; exit code 0 when it can, 1 when not.

examples:
  ugs health
  ugs health --url http://127.0.0.1:9000/ && echo fine
"""

from __future__ import annotations

import urllib.error
import urllib.request
from argparse import ArgumentParser, Namespace

from ugs_gateway.cli.output.streams import UsageError, say

DEFAULT = "http://127.0.0.1:8000/"
REQUEST_TIMEOUT_SECONDS = 5.0

PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--url", default=DEFAULT, help=f"where the gateway answers (default: {DEFAULT})")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    if not options.url.startswith(("http://", "https://")):
        raise UsageError(f"--url must begin with http:// or https://, got {options.url!r}")
    status, text = fetch_page(options.url.rstrip("/") + "/readyz")
    say(text.strip())
    return 0 if status == 200 else 1


def fetch_page(url: str) -> tuple[int, str]:
    """Status and text of a health page; proxies are bypassed."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=REQUEST_TIMEOUT_SECONDS) as page:
            return page.status, page.read(10_000).decode("utf-8", "replace")
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read(10_000).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        return 0, f"nobody answers at {url}: {getattr(error, 'reason', error)}"
