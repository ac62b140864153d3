"""A chat model for demonstrations and tests: it knows "A does B." and questions, and answers from what is recalled."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STATEMENT = re.compile(r"(?P<subject>[A-Z]\w*) (?P<predicate>\w+(?: (?:in|at|on|with|for))?) (?P<value>[^.?]+)\.?")


def reply_to(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The next message: a call of a tool for what was said, then words about what the tool answered."""
    last = messages[-1]
    if last["role"] == "tool":
        return {"role": "assistant", "content": words_of(last["content"])}
    said = last["content"]
    found = STATEMENT.fullmatch(said)
    if said.endswith("?") or found is None:
        return call("recall", {"query": said, "limit": 3})
    return call("remember", {"text": said, "facts": [found.groupdict()]})


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}],
    }


def words_of(result: str) -> str:
    """What a result of the memory says, in a sentence."""
    told = json.loads(result)
    if "items" not in told:
        return "I shall remember that." if "code" not in told else f"The memory refused: {told['message']}"
    return told["items"][0]["text"] if told["items"] else "I do not know."


class Handler(BaseHTTPRequestHandler):
    """One endpoint: POST …/chat/completions."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"choices": [{"message": reply_to(asked["messages"])}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@contextmanager
def serving_stub() -> Iterator[str]:
    """The stub model on a free port of this machine; gives its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
