"""Which HTTP protocol the server uses: ours, as long as uvicorn has the internals that ours extends.

`HeaderTimeoutProtocol` and `FastPathProtocol` extend a class of uvicorn that is not a public interface. If a version
lacks something they use, the server takes the next simpler protocol and logs a warning: it then answers as before, but
slower, or without the header timeout.
"""

from __future__ import annotations

from typing import Any

import uvicorn

from ugs_gateway.observability.structured_logs import Log

log = Log("ugs_gateway")

HEADER_TIMEOUT_INTERNALS = frozenset(
    {
        "connection_made",
        "connection_lost",
        "pause_writing",
        "resume_writing",
        "on_message_begin",
        "on_headers_complete",
        "on_message_complete",
        "on_response_complete",
        "timeout_keep_alive_handler",
        "shutdown",
        "cycle",
        "loop",
        "transport",
    }
)
"""What `HeaderTimeoutProtocol` overrides or reads."""

FAST_PATH_INTERNALS = HEADER_TIMEOUT_INTERNALS | frozenset(
    {
        "data_received",
        "on_body",
        "app",
        "client",
        "flow",
        "headers",
        "limit_concurrency",
        "parser",
        "pipeline",
        "root_path",
        "server_state",
        "tasks",
        "timeout_keep_alive",
        "timeout_keep_alive_task",
        "url",
    }
)
"""What `FastPathProtocol` overrides or reads."""


def choose_protocol() -> Any:
    """The protocol class, or uvicorn's name for its own choice."""
    present = find_internals()
    if present >= FAST_PATH_INTERNALS:
        from ugs_gateway.fastpath.protocol import FastPathProtocol

        return FastPathProtocol
    missing = ", ".join(sorted(FAST_PATH_INTERNALS - present))
    log.warning("this version of uvicorn is not known: no fast path", uvicorn=uvicorn.__version__, missing=missing)
    if present >= HEADER_TIMEOUT_INTERNALS:
        from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol

        return HeaderTimeoutProtocol
    log.warning("clients that send their headers slowly are not disconnected", uvicorn=uvicorn.__version__)
    return "auto"


def find_internals() -> frozenset[str]:
    """The names of methods and attributes of uvicorn's protocol; none where its module looks different."""
    try:
        from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
    except ImportError:
        return frozenset()
    functions = (HttpToolsProtocol.__init__, HttpToolsProtocol.on_message_begin)
    assigned = {name for function in functions for name in function.__code__.co_names}
    return frozenset({*dir(HttpToolsProtocol), *assigned}) if STATUS_LINE.get(200) else frozenset()
