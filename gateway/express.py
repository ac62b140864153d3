"""The express lane: a plain request whose document is known goes from the web server straight to its answer.

Nearly all requests of a frontend are alike: JSON by POST, a document that was seen before, an answer as JSON. For those
the framework around has nothing to decide. Whatever is unusual about a request, and whatever would be refused, takes
the usual way, untouched: there is one place that knows how to refuse. Both ways give the same answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import count
from secrets import token_hex
from typing import Any

import msgspec
from graphql import ExecutionResult, GraphQLError, OperationType
from graphql.execution.values import VariableValues
from msgspec import Struct
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from gateway.asked import Asked, Refused, from_body
from gateway.graphql import GraphQLDoor, refused_parts, shown
from gateway.guard import CALLERS_ID, HEADERS, HOST, host_name
from gateway.logs import Log, request_id
from gateway.media import EVENT_STREAM, PLAIN_TYPE, RESPONSE_TYPE, WORTHWHILE, compressed, media_type, parts_of
from gateway.rates import TooManyRequests
from gateway.reception import Admitted
from gateway.regulars import Regulars
from gateway.settings import Settings, is_loopback
from schema.errors import masked
from schema.operations import Short
from schema.payloads import CompiledChange, Seal
from ugs.errors import DeadlineExceeded, LimitExceeded, UgsError, Unauthenticated
from ugs.identity import Principal
from ugs.writer import Outcome

log = Log("gateway")

PATH = "/graphql"
KEPT = 1_000
MOST_HEADERS, MOST_HEADER_BYTES = 50, 8_192
"""More than this is not plain; what is too much altogether, the guard knows."""
JSON_KINDS = frozenset({b"application/json", b"application/json; charset=utf-8", b"application/json;charset=utf-8"})
UNUSUAL = (b"content-encoding", b"expect", b"transfer-encoding")
CONTENT_TYPES = {media: f"{media}; charset=utf-8".encode() for media in (RESPONSE_TYPE, PLAIN_TYPE)}
BEGINNING, NUMBERS = token_hex(6), count()
"""New request ids: where this process begins, and its requests one by one; nobody has to guess them."""
SAFE = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Told(Struct):
    """What the headers of a plain request say."""

    media: str
    authorization: str | None
    encodings: str
    id: str


class Ready(Struct):
    """A request that may run."""

    asked: Asked
    variables: Mapping[str, Any] | None
    admitted: Admitted
    principal: Principal
    short: Short | None
    """What answers it without the executor."""


class Answer(Struct):
    """What goes back."""

    body: bytes
    status: int = 200
    outcome: str = "ok"
    headers: Mapping[str, str] = {}


class Express:
    """Serves plain requests."""

    def __init__(self, door: GraphQLDoor, settings: Settings) -> None:
        self.door, self.reception, self.operations = door, door.reception, door.operations
        self.local_only, self.crossing = settings.is_local, bool(settings.origin_list)
        self.regulars = Regulars()
        self._hosts: set[bytes] = set()
        self._media: dict[bytes, str | None] = {}

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> Receive | None:
        """Answer the request, or give back what the usual way shall receive."""
        told = self.told(scope["headers"])
        if told is None:
            return receive
        started, token = time.perf_counter(), request_id.set(told.id)
        try:
            answer = await self._in_time(told, scope, receive)
            if not isinstance(answer, Answer):
                return answer
            await self._send(told, answer, send)
            self.served(answer, started)
        finally:
            request_id.reset(token)
        return None

    async def _in_time(self, told: Told, scope: Scope, receive: Receive) -> Answer | Receive:
        """The answer, or what the usual way shall receive."""
        try:
            async with asyncio.timeout(self.door.seconds):
                message = await receive()
        except TimeoutError:
            return self.too_late()
        client = scope["client"]
        whole = not message.get("more_body")
        ready = self.ready(message.get("body", b""), told, client[0] if client else "") if whole else None
        return replayed(message, receive) if ready is None else await self.answered(told, ready)

    async def answered(self, told: Told, ready: Ready) -> Answer:
        """The answer to a request that may run, in time."""
        try:
            async with asyncio.timeout(self.door.seconds):
                return await self.answered_whenever(told, ready)
        except TimeoutError:
            return self.too_late()

    async def answered_whenever(self, told: Told, ready: Ready) -> Answer:
        """The answer to a request that may run, for those who look at the clock themselves."""
        try:
            return await self._run(told, ready)
        except RecursionError:
            return _refused(Refused(400, LimitExceeded("The query is nested too deeply")))
        except Refused as refused:
            return _refused(refused)
        except Exception as error:
            return _failed(error)

    def now(self, ready: Ready) -> Answer | None:
        """The answer where nobody has to be waited for; else None, and nothing has happened."""
        short = ready.short
        if short is None or isinstance(short.compiled, CompiledChange) or self.door.tracing.is_on:
            return None
        system = self.reception.tenants.opened(ready.principal)
        found = None if system is None else self.operations.answer_now(short, system.storage)
        return None if found is None else Answer(found)

    def begun(self, ready: Ready, seal: Seal) -> asyncio.Future[bytes | Outcome] | None:
        """What will come of a change that is one command: the sealed answer, or an outcome of which more has to be
        looked up. None where it has to be run, and nothing has happened."""
        system = self.reception.tenants.opened(ready.principal)
        if ready.short is None or system is None or self.door.tracing.is_on:
            return None
        return self.operations.begin(ready.short, system, ready.principal, seal)

    def come(self, told: Told, ready: Ready, going: asyncio.Future[bytes | Outcome]) -> bytes | Outcome | Answer:
        """What has come of it, or the answer to a change that was not done."""
        try:
            return going.result()
        except asyncio.CancelledError:
            return self.too_late()
        except Exception as error:
            return self._not_done(told, ready, error)

    def _not_done(self, told: Told, ready: Ready, error: Exception) -> Answer:
        try:
            return self._shown(told, ready, _change_in(ready)[0].refused(error))
        except Exception as bug:
            return _failed(bug)

    async def looked_up(self, told: Told, ready: Ready, outcome: Outcome) -> Answer:
        """The answer to such a change where more had to be looked up."""
        try:
            change, variables = _change_in(ready)
            context = await self.reception.context_of(ready.principal)
            return self._shown(told, ready, await change.rest(context, variables, outcome))
        except Exception as error:
            return _failed(error)

    def too_late(self) -> Answer:
        """The answer to a request whose time is up."""
        reason = f"The request took longer than {self.door.seconds:g} seconds and was stopped"
        return _refused(Refused(503, DeadlineExceeded(reason)))

    def served(self, answer: Answer, started: float) -> float:
        """Count an answer that has gone out; answers with the time."""
        now = time.perf_counter()
        took = now - started
        self.reception.metrics.served(answer.outcome, took)
        if log.tells_info:
            log.info("served", method="POST", path=PATH, status=answer.status, took_ms=round(took * 1000, 1))
        return now

    # ── is it plain? ─────────────────────────────────────────────────────────

    def told(self, given: Sequence[tuple[bytes, bytes]]) -> Told | None:
        """What the headers say, if they are plain."""
        headers: dict[bytes, bytes] = dict(given)
        if len(headers) != len(given) or not self._is_plain(headers, given):
            return None
        media = self._media_for(headers.get(b"accept", b"*/*"))
        if media is None:
            return None
        authorization = headers.get(b"authorization")
        return Told(
            media,
            None if authorization is None else authorization.decode("latin-1"),
            headers.get(b"accept-encoding", b"").decode("latin-1"),
            id_for(headers.get(b"x-request-id")),
        )

    def _is_plain(self, headers: Mapping[bytes, bytes], given: Sequence[tuple[bytes, bytes]]) -> bool:
        return (
            headers.get(b"content-type") in JSON_KINDS
            and self.is_short(headers.get(b"content-length", b""))
            and self._knows_host(headers.get(b"host", b""))
            and not any(name in headers for name in UNUSUAL)
            and len(headers) <= MOST_HEADERS
            and sum(map(len, headers.values())) <= MOST_HEADER_BYTES
            and (b"origin" not in headers or self._may_come(given))
        )

    def is_short(self, length: bytes) -> bool:
        return length.isdigit() and len(length) < 12 and 0 < int(length) <= self.door.most_bytes

    def _knows_host(self, host: bytes) -> bool:
        """Whether the caller talks to us by a name that we have; those are few."""
        if host in self._hosts:
            return True
        name = host.decode("latin-1")
        if not HOST.fullmatch(name) or (self.local_only and not is_loopback(host_name(name))):
            return False
        if len(self._hosts) < KEPT:
            self._hosts.add(host)
        return True

    def _may_come(self, given: Sequence[tuple[bytes, bytes]]) -> bool:
        return not self.crossing and self.reception.origins.may_ask(Headers(raw=list(given)))

    def _media_for(self, accept: bytes) -> str | None:
        """What a client gets that accepts this; None for streams, and where there is nothing for it."""
        if accept not in self._media:
            if len(self._media) >= KEPT:
                self._media.clear()
            kinds = parts_of(accept.decode("latin-1"))
            plain = EVENT_STREAM not in kinds and {RESPONSE_TYPE, PLAIN_TYPE, "*/*"} & set(kinds)
            self._media[accept] = media_type(kinds) if plain else None
        return self._media[accept]

    # ── may it run? ──────────────────────────────────────────────────────────

    def ready(self, body: bytes, told: Told, address: str) -> Ready | None:
        """The request, if it may run at once."""
        try:
            return self._ready_again(body, told, address) or self._ready_anew(body, told, address)
        except (Refused, Unauthenticated, TooManyRequests, RecursionError):
            return None

    def _ready_again(self, body: bytes, told: Told, address: str) -> Ready | None:
        """The request, if all but its variables is known."""
        regular = self.regulars.find(body)
        variables = None if regular is None else regular.variables_in(body, self.door.most_depth)
        if regular is None or variables is None:
            return None
        principal = self.reception.gatekeeper.principal(told.authorization)
        short = regular.quick.short(variables)
        if short is None:
            return None
        if principal is not regular.admitted.principal and principal != regular.admitted.principal:
            regular.admitted = self.reception.admit(regular.asked, regular.asked.query or "", principal)
        self.reception.take_turn(principal, address)
        self.operations.hits += 1
        return Ready(regular.asked, variables, regular.admitted, principal, short)

    def _ready_anew(self, body: bytes, told: Told, address: str) -> Ready | None:
        asked = from_body(body, self.door.most_depth)
        if asked.query is None or asked.extensions or asked.document_id or not self.operations.knows(asked.query):
            return None
        principal = self.reception.gatekeeper.principal(told.authorization)
        admitted = self.reception.admit(asked, self.reception.text_of(asked), principal)
        if admitted.operation is None or admitted.operation.operation is OperationType.SUBSCRIPTION:
            return None
        self.reception.take_turn(principal, address)
        short = self._short(asked, admitted)
        quick = None if short is None else self.operations.quick(admitted.prepared, admitted.operation)
        if quick is not None:
            self.regulars.remember(body, asked, admitted, quick)
        return Ready(asked, asked.variables, admitted, principal, short)

    def _short(self, asked: Asked, admitted: Admitted) -> Short | None:
        try:
            return self.operations.short(admitted.prepared, asked.variables, asked.operation)
        except (UgsError, GraphQLError, RecursionError):
            return None  # the executor says by itself what is wrong
        except Exception as error:
            log.exception("an operation could not be compiled; the executor answers it", error)
            return None

    # ── the answer ───────────────────────────────────────────────────────────

    async def _run(self, told: Told, ready: Ready) -> Answer:
        asked, admitted = ready.asked, ready.admitted
        system = self.reception.tenants.opened(ready.principal) or await self.reception.system_of(ready.principal)
        context = self.reception.context_in(system, ready.principal)
        with self.door.tracing.span(admitted.operation):
            result = await self.operations.answer_by(
                ready.short, admitted.prepared, context, ready.variables, asked.operation
            )
        return self._shown(told, ready, result)

    def _shown(self, told: Told, ready: Ready, result: bytes | ExecutionResult) -> Answer:
        if isinstance(result, bytes):
            return Answer(result)
        return Answer(*shown(told.media, result, ready.admitted.hinting))

    def packed(self, told: Told, answer: Answer) -> tuple[bytes, Mapping[str, str]]:
        """The body as the caller takes it, and the headers that go with it."""
        if not self.door.compressing or len(answer.body) < WORTHWHILE:
            return answer.body, answer.headers
        body, more = compressed(answer.body, told.encodings)
        return body, {**answer.headers, **more}

    async def _send(self, told: Told, answer: Answer, send: Send) -> None:
        body, more = self.packed(told, answer)
        headers = [
            (b"content-type", CONTENT_TYPES[told.media]),
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", told.id.encode()),
            *SAFE,
        ]
        headers += [(name.encode(), value.encode()) for name, value in more.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _change_in(ready: Ready) -> tuple[CompiledChange, VariableValues]:
    short = ready.short
    assert short is not None and isinstance(short.compiled, CompiledChange)
    return short.compiled, short.variables


def _refused(refused: Refused) -> Answer:
    body, status, headers = refused_parts(refused)
    return Answer(body, status, "refused", headers)


def id_for(given: bytes | None) -> str:
    """The caller's own request id when it is harmless, else a new one."""
    text = "" if given is None else given.decode("latin-1")
    return text if text and CALLERS_ID.fullmatch(text) else f"{BEGINNING}{next(NUMBERS):08x}"


def _failed(error: Exception) -> Answer:
    """A bug: the caller gets an id, the log gets the rest."""
    id = f"err_{token_hex(6)}"
    log.exception("a request failed", error, error_id=id)
    return Answer(msgspec.json.encode({"error": masked(id)}), 500, "errors")


def replayed(first: Message, rest: Receive) -> Receive:
    """What was received already, once more, and then the rest."""
    waiting = [first]

    async def receive() -> Message:
        return waiting.pop() if waiting else await rest()

    return receive


class Gateway(Starlette):
    """The application with its express lane."""

    express: Express | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.express is not None and scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST":
            left = await self.express.serve(scope, receive, send)
            if left is None:
                return
            receive = left
        await super().__call__(scope, receive, send)
