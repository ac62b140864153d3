"""The uvicorn HTTP protocol with the fast path: plain requests are answered in `data_received`.

uvicorn creates a task, queues and an ASGI scope for every request. A request that is plain, complete and the only one
in progress on its connection needs none of them. Every other request is passed to uvicorn unchanged. A request whose
head repeats the bytes of the one before is not parsed again (`ugs_gateway.fastpath.header_cache`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from time import perf_counter
from typing import Any, cast

from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from ugs_gateway.fastpath.handler import CONTENT_TYPES, PATH, AdmittedRequest, FastAnswer, FastPath, ParsedHeaders
from ugs_gateway.fastpath.header_cache import CachedHead, head_of
from ugs_gateway.http.content_negotiation import LARGE_GZIP_BYTES
from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol
from ugs_gateway.http.request_policy import SECURITY_HEADERS, choose_request_id
from ugs_gateway.observability.structured_logs import request_id
from ugs_schema.compiler.executor import Submission

ADDRESS = PATH.encode()
SECURITY_LINES = "".join([f"{name}: {value}\r\n" for name, value in SECURITY_HEADERS.items()]).encode()
CLOSING = b"\r\nconnection: close\r\n\r\n"
"""Replaces the end of the response head when the connection is closed after the response."""
MAX_HEAD_MISSES = 3
"""After so many cached heads in a row without a hit, the connection stops caching heads."""


class _UnwatchedEvent:
    """An event nobody waits for: uvicorn sets `message_event` of the current cycle when the connection is lost."""

    def set(self) -> None:
        return None


class PendingRequest:
    """A request in progress; stands in for uvicorn's `RequestResponseCycle` as `self.cycle`."""

    message_event = _UnwatchedEvent()

    def __init__(self, headers: ParsedHeaders, admitted: AdmittedRequest, started: float) -> None:
        self.headers, self.admitted, self.started = headers, admitted, started
        self.response_complete = self.disconnected = False
        self.keep_alive = True
        self.task: asyncio.Future[Any] | None = None


class FastPathProtocol(HeaderTimeoutProtocol):
    """uvicorn's HTTP protocol with header timeout and fast path."""

    _headers: ParsedHeaders | None = None
    """The headers of the request that is being received, if it is plain."""
    _body = b""
    _head: CachedHead[ParsedHeaders] | None = None
    """The head of the last request, if the fast path served it."""
    _chances = MAX_HEAD_MISSES
    _between = True
    """Whether the parser is between two requests."""
    _answered_at = 0.0
    """When the fast path last sent an answer."""
    _pending: PendingRequest | None = None
    """The request in progress on the fast path, if any."""
    _deadline: asyncio.TimerHandle | None = None
    """Timer for the deadline of requests; see `_check_deadline`."""
    _messages = 0
    """How many requests were completed by the last chunk of data."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        app: Any = self.app
        # Behind a proxy the application is wrapped, because addresses have to be read from headers.
        usable = isinstance(app, Starlette) and not self.root_path and self.limit_concurrency is None
        self._fast_path: FastPath | None = getattr(app.state, "fast_path", None) if usable else None
        self._last_fields: dict[bytes, bytes] = {}
        self._last_headers: ParsedHeaders | None = None

    # ── receiving ────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        if self._between and self._head is not None and self._serve_cached(self._head, data):
            return
        fresh, self._messages = self._between and self._chances > 0, 0
        super().data_received(data)
        if self._headers is not None:
            # The body is incomplete: the framework waits for the rest, with its own timeout.
            self._pass_to_uvicorn(whole=False)
        elif fresh and self._between and self._messages == 1 and self._last_headers is not None:
            self._head = head_of(data, self._body, self._last_headers)
            self._chances -= 1

    def _serve_cached(self, head: CachedHead[ParsedHeaders], data: bytes) -> bool:
        """Serve a request whose head is cached; returns False, without side effects, if it does not match."""
        fast_path, body = self._fast_path, head.body_in(data)
        if not body or fast_path is None or len(body) > fast_path.max_body_bytes or self._is_busy():
            return False
        self._body = body
        if not self._serve(fast_path, _with_request_id(head.headers, head.id)):
            return False
        self._chances = MAX_HEAD_MISSES
        return True

    def on_message_begin(self) -> None:
        self._between = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._headers = self._plain_headers() if self._fast_path is not None else None
        if self._headers is None:
            self._head = self._last_headers = None
            super().on_headers_complete()
        else:
            self._stop_clock()
            self._body = b""

    def on_body(self, body: bytes) -> None:
        if self._headers is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        self._between = True
        self._messages += 1
        headers, fast_path = self._headers, self._fast_path
        if headers is None or fast_path is None:
            super().on_message_complete()
        elif self._serve(fast_path, headers):
            self._headers = None
        else:
            self._pass_to_uvicorn(whole=True)

    def _plain_headers(self) -> ParsedHeaders | None:
        """The parsed headers, if the fast path may serve the request."""
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
        return self._parse_headers()

    def _is_busy(self) -> bool:
        """Whether an earlier response is incomplete or the send buffer is full."""
        before: Any = self.cycle
        return (before is not None and not before.response_complete) or self.flow.write_paused

    def _parse_headers(self) -> ParsedHeaders | None:
        """The parsed headers; reused if they equal those of the last request apart from the length."""
        assert self._fast_path is not None
        fields = dict(self.headers)
        length, last = fields.pop(b"content-length", b""), self._last_headers
        if last is None or fields != self._last_fields or len(fields) + 1 != len(self.headers):
            self._last_headers = self._fast_path.parse_headers(self.headers)
            self._last_fields = fields
            return self._last_headers
        if not self._fast_path.is_short(length):
            return None
        return _with_request_id(last, fields.get(b"x-request-id"))

    def _pass_to_uvicorn(self, whole: bool) -> None:
        """Pass the request to uvicorn, as far as it has arrived."""
        self._headers = None
        if self.transport.is_closing():
            return
        super().on_headers_complete()
        if self._body:
            super().on_body(self._body)
        if whole:
            super().on_message_complete()

    # ── serving ──────────────────────────────────────────────────────────────

    def _serve(self, fast_path: FastPath, headers: ParsedHeaders) -> bool:
        """Answer or start a request; returns False, without side effects, if the framework has to serve it."""
        started = perf_counter()
        request_id.set(headers.id)
        admitted = fast_path.admit(self._body, headers, self.client[0] if self.client else "")
        if admitted is None:
            return False
        if isinstance(admitted, FastAnswer):
            self._write_answer(fast_path, headers, admitted, started)
        else:
            self._start(fast_path, headers, admitted, started)
        return True

    def _start(self, fast_path: FastPath, headers: ParsedHeaders, admitted: AdmittedRequest, started: float) -> None:
        answer = fast_path.run_sync(admitted)
        if answer is None:
            self._wait(fast_path, PendingRequest(headers, admitted, started))
        elif len(answer.body) > LARGE_GZIP_BYTES and fast_path.is_slow_to_compress(headers, answer):
            pending = self.cycle = self._pending = cast("Any", PendingRequest(headers, admitted, started))
            self._run(fast_path, pending, fast_path.compress_large(headers, answer))
            self._start_deadline(fast_path)
        else:
            self._write_answer(fast_path, headers, answer, started)

    def _write_answer(self, fast_path: FastPath, headers: ParsedHeaders, answer: FastAnswer, started: float) -> None:
        self.transport.write(self._message(fast_path, headers, answer))
        self._after_answer(fast_path, answer, started)

    def _wait(self, fast_path: FastPath, pending: PendingRequest) -> None:
        self.cycle = self._pending = cast("Any", pending)
        submitted = fast_path.submit(pending.admitted)
        if submitted is None:
            self._run(fast_path, pending, fast_path.run(pending.headers, pending.admitted))
        else:
            self._register(pending, submitted.outcome)
            submitted.outcome.add_done_callback(partial(self._on_committed, fast_path, pending, submitted))
        self._start_deadline(fast_path)

    def _start_deadline(self, fast_path: FastPath) -> None:
        """Make sure that the deadline timer runs."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(fast_path.seconds, self._check_deadline)

    def _on_committed(
        self, fast_path: FastPath, pending: PendingRequest, submitted: Submission, future: asyncio.Future[Any]
    ) -> None:
        """Done callback of a submitted mutation: it is committed, rejected or timed out."""
        self.tasks.discard(cast("asyncio.Task[None]", future))
        answer = fast_path.answer_submitted(pending.headers, pending.admitted, submitted)
        if answer is None:
            rest = fast_path.complete(pending.headers, pending.admitted, submitted, future.result())
            self._run(fast_path, pending, rest)
        else:
            self._finish(fast_path, pending, answer)

    def _run(self, fast_path: FastPath, pending: PendingRequest, work: Coroutine[Any, Any, FastAnswer]) -> None:
        self._register(pending, self.loop.create_task(self._await_answer(fast_path, pending, work)))

    def _register(self, pending: PendingRequest, future: asyncio.Future[Any]) -> None:
        """Register the future of a request: uvicorn waits for `tasks` at shutdown, and the deadline timer cancels
        it."""
        pending.task = future
        self.tasks.add(cast("asyncio.Task[None]", future))

    async def _await_answer(
        self, fast_path: FastPath, pending: PendingRequest, work: Coroutine[Any, Any, FastAnswer]
    ) -> None:
        try:
            answer = await work
        except asyncio.CancelledError:
            answer = fast_path.timed_out()
        finally:
            self.tasks.discard(cast("Any", pending.task))
        self._finish(fast_path, pending, answer)

    # ── sending ──────────────────────────────────────────────────────────────

    def _finish(self, fast_path: FastPath, pending: PendingRequest, answer: FastAnswer) -> None:
        pending.response_complete, self._pending = True, None
        if not pending.disconnected:
            self._send(pending, self._message(fast_path, pending.headers, answer))
        self._after_answer(fast_path, answer, pending.started)

    def _after_answer(self, fast_path: FastPath, answer: FastAnswer, started: float) -> None:
        """Record an answer; continue with a pipelined request, or make sure the keep-alive timer runs."""
        self._answered_at = fast_path.record_answer(answer, started)
        if self.pipeline:
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        if self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self._expect_more(self.timeout_keep_alive)

    def _send(self, pending: PendingRequest, message: bytes) -> None:
        if pending.keep_alive:
            self.transport.write(message)
        else:
            self.transport.write(message.replace(b"\r\n\r\n", CLOSING, 1))
            self.transport.close()
            self._watch_close()

    def _message(self, fast_path: FastPath, headers: ParsedHeaders, answer: FastAnswer) -> bytes:
        """The complete HTTP response, for a connection that stays open."""
        body, more = fast_path.compress(headers, answer)
        own = _OWN_LINES % (CONTENT_TYPES[headers.media], len(body), headers.id.encode())
        lines = "".join([f"{name}: {value}\r\n" for name, value in more.items()]).encode() if more else b""
        return b"".join((STATUS_LINE[answer.status], self._default_lines(), own, lines, b"\r\n", body))

    def _default_lines(self) -> bytes:
        """Security headers and uvicorn's default headers. Cached until uvicorn replaces them (once a second, for the
        date)."""
        given = self.server_state.default_headers
        if _DEFAULT_LINES[0] is not given:
            _DEFAULT_LINES[:] = [given, SECURITY_LINES + b"".join(b"%b: %b\r\n" % pair for pair in given)]
        lines: bytes = _DEFAULT_LINES[1]
        return lines

    # ── between requests ─────────────────────────────────────────────────────

    # Timers are not restarted for each request: when one fires, it checks what happened since and re-arms itself for
    # the remaining time. Creating and cancelling a timer costs as much as many an answer.

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that has been idle for the keep-alive time."""
        left = self._answered_at + self.timeout_keep_alive - perf_counter()
        if self._pending is not None:
            left = self.timeout_keep_alive
        if left > 0:
            self._expect_more(left)
        else:
            super().timeout_keep_alive_handler()

    def _expect_more(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _check_deadline(self) -> None:
        """Cancel the request in progress if it exceeded its deadline, else wait for the remaining time."""
        pending, self._deadline = self._pending, None
        if self._fast_path is None or pending is None or pending.task is None:
            return
        left = pending.started + self._fast_path.seconds - perf_counter()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._check_deadline)
        else:
            pending.task.cancel()


_DEFAULT_LINES: list[Any] = [None, b""]
_OWN_LINES = b"content-type: %b\r\ncontent-length: %d\r\nx-request-id: %b\r\n"


def _with_request_id(headers: ParsedHeaders, id: bytes | None) -> ParsedHeaders:
    """The headers of an earlier request with a new request id."""
    given = "" if id is None else id.decode("latin-1")
    return ParsedHeaders(headers.media, headers.authorization, headers.encodings, choose_request_id(given))
