"""The express lane at the door: plain requests are answered where their bytes arrive.

Between the web server and the application stand a task, two queues and a dictionary for every request. A request that
is plain, whole and alone on its connection needs none of them. Any other is handed on as if nothing had happened.
One that begins with the very bytes of the request before need not even be taken apart again (`gateway.heads`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from time import perf_counter
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.express import CONTENT_TYPES, PATH, SAFE, Answer, Express, Gateway, Ready, Told, id_for
from gateway.heads import Head, head_of
from gateway.logs import request_id
from gateway.patience import PatientProtocol

ADDRESS = PATH.encode()
SAFE_LINES = b"".join(b"%b: %b\r\n" % pair for pair in SAFE)
CLOSING = b"\r\nconnection: close\r\n\r\n"
"""The end of the head of the last answer on a connection."""
DONE = Answer(b"")
"""How a change that was done is counted."""
CHANCES = 3
"""After so many heads in a row that did not come again, a connection is not expected to repeat itself."""


class _Nobody:
    """Whom to wake when a request's connection is lost: nobody waits."""

    def set(self) -> None:
        return None


class Ride:
    """A request on its way, where the web server keeps its own kind of them."""

    message_event = _Nobody()

    def __init__(self, started: float = 0.0) -> None:
        self.response_complete = self.disconnected = False
        self.keep_alive = True
        self.started = started
        self.task: asyncio.Future[Any] | None = None


class LaneProtocol(PatientProtocol):
    """The usual protocol with an express lane."""

    _told: Told | None = None
    _body = b""
    _head: Head[Told] | None = None
    """How the last request began, if it took the lane."""
    _chances = CHANCES
    _between = True
    """Whether the parser waits for the first byte of a request."""
    _answered_at = 0.0
    """When the lane gave an answer for the last time."""
    _riding: Ride | None = None
    """The request that is waited for, if one is."""
    _deadline: asyncio.TimerHandle | None = None
    """Rings when the time of a request may be up."""
    _messages = 0
    """How many requests have ended in what arrived last."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        app: Any = self.app
        usable = isinstance(app, Gateway) and not self.root_path and self.limit_concurrency is None
        self._express: Express | None = app.express if usable else None
        self._known: dict[bytes, bytes] = {}
        self._said: Told | None = None

    # ── coming in ────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        if self._between and self._head is not None and self._again(self._head, data):
            return
        fresh, self._messages = self._between and self._chances > 0, 0
        super().data_received(data)
        if self._told is not None:
            # The rest of the body is still on its way: somebody has to wait for it, with a clock.
            self._hand_on(whole=False)
        elif fresh and self._between and self._messages == 1 and self._said is not None:
            self._head = head_of(data, self._body, self._said)
            self._chances -= 1

    def _again(self, head: Head[Told], data: bytes) -> bool:
        """Serve a request that begins like the last one; False, and nothing has happened, if it is not like that."""
        express, body = self._express, head.body_in(data)
        if not body or express is None or len(body) > express.door.most_bytes or self._is_busy():
            return False
        told = _once_more(head.told, head.id)
        request_id.set(told.id)
        self._body = body
        ready = self._ready(express, told)
        if ready is None:
            return False
        self._chances = CHANCES
        self._ride(express, told, ready)
        return True

    def on_message_begin(self) -> None:
        self._between = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._told = self._plain() if self._express is not None else None
        if self._told is None:
            self._head = self._said = None
            super().on_headers_complete()
        else:
            self._stop_clock()
            self._body = b""

    def on_body(self, body: bytes) -> None:
        if self._told is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        self._between = True
        self._messages += 1
        told, express = self._told, self._express
        if told is None or express is None:
            super().on_message_complete()
            return
        request_id.set(told.id)
        ready = self._ready(express, told)
        if ready is None:
            self._hand_on(whole=True)
        else:
            self._told = None
            self._ride(express, told, ready)

    def _ready(self, express: Express, told: Told) -> Ready | None:
        try:
            return express.ready(self._body, told, self.client[0] if self.client else "")
        except Exception:
            return None  # the usual way fails alike, and tells the log and the caller about it

    def _plain(self) -> Told | None:
        """What the request says, if it may take the lane."""
        parser: Any = self.parser
        if (
            self.url != ADDRESS
            or parser.get_method() != b"POST"
            or self._is_busy()
            or parser.get_http_version() != "1.1"
            or not parser.should_keep_alive()
            or parser.should_upgrade()
        ):
            return None
        return self._said_by_headers()

    def _is_busy(self) -> bool:
        """Whether an answer is still on its way."""
        before: Any = self.cycle
        return (before is not None and not before.response_complete) or self.flow.write_paused

    def _said_by_headers(self) -> Told | None:
        """Requests of one connection say the same again and again, apart from their length."""
        assert self._express is not None
        headers = dict(self.headers)
        length, said = headers.pop(b"content-length", b""), self._said
        if said is None or headers != self._known or len(headers) + 1 != len(self.headers):
            self._said = self._express.told(self.headers)
            self._known = headers
            return self._said
        if not self._express.is_short(length):
            return None
        return _once_more(said, headers.get(b"x-request-id"))

    def _hand_on(self, whole: bool) -> None:
        """Let the usual way have the request, as far as it has come."""
        self._told = None
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        if self._body:
            super().on_body(self._body)
        if whole:
            super().on_message_complete()

    # ── going out ────────────────────────────────────────────────────────────

    def _ride(self, express: Express, told: Told, ready: Ready) -> None:
        started = perf_counter()
        answer = express.now(ready)
        if answer is None:
            self._wait(express, told, ready, Ride(started))
        else:
            self.transport.write(self._message(express, told, answer))
            self._answered(express, answer, started)

    def _wait(self, express: Express, told: Told, ready: Ready, ride: Any) -> None:
        self.cycle = self._riding = ride
        going = express.begun(ready, partial(self._sealed, express, told))
        if going is None:
            self._run(express, ride, told, express.answered_whenever(told, ready))
        else:
            self._known_as(ride, going)
            going.add_done_callback(partial(self._come, express, ride, told, ready))
        if self._deadline is None:
            self._deadline = self.loop.call_later(express.door.seconds, self._look_at_ride)

    def _come(self, express: Express, ride: Ride, told: Told, ready: Ready, going: asyncio.Future[Any]) -> None:
        """A change is durable, or refused, or its time is up."""
        self.tasks.discard(cast("asyncio.Task[None]", going))
        come = express.come(told, ready, going)
        if isinstance(come, bytes):
            self._arrive(express, ride, told, DONE, come)
        elif isinstance(come, Answer):
            self._arrive(express, ride, told, come)
        else:
            self._run(express, ride, told, express.looked_up(told, ready, come))

    def _run(self, express: Express, ride: Ride, told: Told, work: Coroutine[Any, Any, Answer]) -> None:
        self._known_as(ride, self.loop.create_task(self._later(express, ride, told, work)))

    def _known_as(self, ride: Ride, going: asyncio.Future[Any]) -> None:
        """What a request waits for: the web server lets it end when it stops itself, and the clock stops it."""
        ride.task = going
        self.tasks.add(cast("asyncio.Task[None]", going))

    async def _later(self, express: Express, ride: Ride, told: Told, work: Coroutine[Any, Any, Answer]) -> None:
        try:
            answer = await work
        except asyncio.CancelledError:
            answer = express.too_late()
        finally:
            self.tasks.discard(ride.task)
        self._arrive(express, ride, told, answer)

    def _arrive(self, express: Express, ride: Ride, told: Told, answer: Answer, sealed: bytes | None = None) -> None:
        ride.response_complete, self._riding = True, None
        if not ride.disconnected:
            self._send(ride, sealed or self._message(express, told, answer))
        self._answered(express, answer, ride.started)

    def _answered(self, express: Express, answer: Answer, started: float) -> None:
        """Count an answer, and expect the next request, unless it has come already."""
        self._answered_at = express.served(answer, started)
        if self.pipeline:
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        if self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self._expect_more(self.timeout_keep_alive)

    def _send(self, ride: Ride, message: bytes) -> None:
        if ride.keep_alive:
            self.transport.write(message)
        else:
            self.transport.write(message.replace(b"\r\n\r\n", CLOSING, 1))
            self.transport.close()

    def _sealed(self, express: Express, told: Told, body: bytes) -> bytes:
        return self._message(express, told, Answer(body))

    def _message(self, express: Express, told: Told, answer: Answer) -> bytes:
        """An answer as it goes over the wire, on a connection that stays."""
        body, more = express.packed(told, answer)
        own = _OWN % (CONTENT_TYPES[told.media], len(body), told.id.encode())
        lines = "".join([f"{name}: {value}\r\n" for name, value in more.items()]).encode() if more else b""
        return b"".join((STATUS_LINE[answer.status], self._usual_lines(), own, lines, b"\r\n", body))

    def _usual_lines(self) -> bytes:
        """What every answer says, and what the web server says by itself; that changes once a second."""
        given = self.server_state.default_headers
        if _USUAL[0] is not given:
            _USUAL[:] = [given, SAFE_LINES + b"".join(b"%b: %b\r\n" % pair for pair in given)]
        lines: bytes = _USUAL[1]
        return lines

    # ── between requests ─────────────────────────────────────────────────────

    # The lane leaves clocks as they are from one request to the next: when one rings, it is looked at what has happened
    # meanwhile. To wind one up costs as much as many an answer.

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection on which nothing has come for a while."""
        left = self._answered_at + self.timeout_keep_alive - perf_counter()
        if self._riding is not None:
            left = self.timeout_keep_alive
        if left > 0:
            self._expect_more(left)
        else:
            super().timeout_keep_alive_handler()

    def _expect_more(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _look_at_ride(self) -> None:
        """Stop a request whose time is up."""
        ride, self._deadline = self._riding, None
        if self._express is None or ride is None or ride.task is None:
            return
        left = ride.started + self._express.door.seconds - perf_counter()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._look_at_ride)
        else:
            ride.task.cancel()


_USUAL: list[Any] = [None, b""]
_OWN = b"content-type: %b\r\ncontent-length: %d\r\nx-request-id: %b\r\n"


def _once_more(said: Told, id: bytes | None) -> Told:
    """What a request says that differs from an earlier one in its id alone."""
    return Told(said.media, said.authorization, said.encodings, id_for(id))
