"""A receiver of webhooks: a real HTTP server that keeps what arrives, and answers as a test wants."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

WAIT_SECONDS = 60.0


class Arrival(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    told: Any

    @property
    def seq(self) -> int:
        return int(self.told["data"]["seq"])

    @property
    def element(self) -> str:
        return str(self.told.get("subject"))


class Receiver:
    """Listens on loopback while the block runs."""

    def __init__(self, answer: Callable[[Arrival], int] = lambda arrival: 204) -> None:
        self.arrived: list[Arrival] = []
        self.accepted: list[Arrival] = []
        self.answer = answer
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                arrival = Arrival(self.path, headers, body, time.monotonic(), json.loads(body))
                receiver.arrived.append(arrival)
                status = receiver.answer(arrival)
                if status < 300:
                    receiver.accepted.append(arrival)
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *given: Any) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, count: int) -> list[Arrival]:
        """Wait until so many events were accepted."""
        until(lambda: len(self.accepted) >= count, lambda: f"{len(self.accepted)} of {count} arrived")
        return list(self.accepted)


def until(true: Callable[[], Any], what: Callable[[], str], seconds: float = WAIT_SECONDS) -> Any:
    """Wait for a condition; answers its value."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)
    return found


def is_signed(arrival: Arrival, secret: str) -> bool:
    """Whether the signature is right, checked as a receiver would by the Standard Webhooks specification."""
    key = base64.b64decode(secret.split("_", 1)[1])
    told = f"{arrival.headers['webhook-id']}.{arrival.headers['webhook-timestamp']}.".encode() + arrival.body
    right = base64.b64encode(hmac.digest(key, told, hashlib.sha256)).decode()
    given = [one.split(",", 1)[1] for one in arrival.headers["webhook-signature"].split() if one.startswith("v1,")]
    return right in given


def check_order(accepted: list[Arrival], seqs: set[int]) -> None:
    """Every event arrived, and the first arrivals of each element's events are in the order of the log."""
    first = {}
    for arrival in accepted:
        first.setdefault(arrival.seq, arrival)
    assert set(first) == seqs, sorted(seqs - set(first))[:10]
    elements: dict[str, list[int]] = {}
    for seq, arrival in first.items():
        elements.setdefault(arrival.element, []).append(seq)
    assert all(order == sorted(order) for order in elements.values())
