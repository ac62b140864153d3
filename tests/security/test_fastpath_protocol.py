"""A06 again, against the express lane: bytes made to mean one thing to it and another to the parser.

Each attack is sent to a connection of its own, to one that has repeated itself before, so that its head is known, and to
a server that has no lane. All three must say the same.
"""

from __future__ import annotations

import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.http import header_timeout
from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol
from ugs_gateway.server import Server, bind, serving_config
from ugs_gateway.settings import Settings

BODY = b'{"query":"query($id: ID!) { graphNode(id: $id) { id type } }","variables":{"id":"alice"}}'
ADD = b'{"query":"mutation { addNode(input: {type: \\"t\\"}) { node { id } } }"}'
DEMO = b'{"query":"mutation { loadDemo { nodes } }"}'
START = b"POST /graphql HTTP/1.1\r\n"
LINES = (b"host: localhost", b"content-type: application/json")


def request(body: bytes = BODY, *more: bytes, start: bytes = START, length: bytes | None = None) -> bytes:
    size = b"content-length: %d" % len(body) if length is None else length
    return start + b"".join(line + b"\r\n" for line in (*LINES, *more, size) if line) + b"\r\n" + body


FILLER = request(BODY, b"connection: close") * 20
"""Whatever a server still waits for, it comes; and then the connection is closed."""


class Answer(NamedTuple):
    status: int
    headers: tuple[bytes, ...]
    body: bytes


RESETS = 5
"""A reset takes along what the client had not read yet, which is no difference between two ways of serving."""


def heard_by(port: int, *pieces: bytes) -> bytes:
    """What a connection answers until it is closed; asked again where a reset may have cut the answer."""
    heard = b""
    for _ in range(RESETS):
        heard, whole = exchange(port, *pieces)
        if whole:
            break
    return heard


def exchange(port: int, *pieces: bytes) -> tuple[bytes, bool]:
    """What a connection answers, and whether it was closed in order."""
    heard = b""
    with socket.create_connection(("127.0.0.1", port), 20) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                line.sendall(piece)
                time.sleep(0.01)
            while chunk := line.recv(65_536):
                heard += chunk
        except ConnectionError:
            return heard, False
    return heard, True


def answers(heard: bytes) -> list[Answer]:
    """The answers one after the other, without what is different every time."""
    found = []
    heard = re.sub(rb"(?i)\r\n(date|x-request-id): [^\r]*", b"", heard)
    while heard:
        head, _, rest = heard.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")), None)
        status = int(first.split(b" ")[1])
        size = len(rest) if length is None and status != 100 else length or 0
        body, heard = rest[:size], rest[size:]
        found.append(Answer(status, tuple(sorted(lines)), re.sub(rb"err_\w+", b"", body)))
    return found


@contextmanager
def served(settings: Settings, protocol: type[HeaderTimeoutProtocol]) -> Iterator[int]:
    """A server in a thread, on the port it tells."""
    config = serving_config(create_app(settings), settings)
    config.http = protocol
    ready = threading.Event()
    server, listener = Server(config, ready.set), bind(Settings(port=0))
    calm = threading.Event()

    def run() -> None:
        server.run([listener])
        calm.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(60)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
    assert calm.is_set(), "it did not end calmly"


class Doors(NamedTuple):
    lane: int
    usual: int


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(header_timeout, "HEADER_TIMEOUT_SECONDS", 1.0)
        yield from open_doors()


def open_doors() -> Iterator[Doors]:
    settings = Settings(store="memory:")
    with served(settings, FastPathProtocol) as lane, served(settings, HeaderTimeoutProtocol) as usual:
        for port in (lane, usual):
            heard_by(port, request(DEMO), request(), request(BODY, b"connection: close"))
        yield Doors(lane, usual)


def told(port: int, *attack: bytes) -> list[Answer]:
    return answers(heard_by(port, *attack, FILLER))


def told_later(port: int, *attack: bytes) -> list[Answer]:
    """As `told`, on a connection whose head is known."""
    found = answers(heard_by(port, request(), request(), request(), *attack, FILLER))
    assert [answer.status for answer in found[:3]] == [200] * 3
    return found[3:]


def check(doors: Doors, *attack: bytes) -> list[Answer]:
    fresh, later, usual = told(doors.lane, *attack), told_later(doors.lane, *attack), told(doors.usual, *attack)
    # What the lane has answered at once, the usual way may not get to say before a bad request behind it ends it all; a
    # request that comes in pieces is served the usual way, too.
    for others in (later, usual):
        assert bool(others) == bool(fresh)
        assert fresh[len(fresh) - len(others) :] == others
    return fresh


L = b"content-length: %d" % len(BODY)
LENGTHS = [
    b"content-length: 0", b"content-length: -1", b"content-length: +5", b"content-length: 0x5", L + b" 5", L + b", 5",
    b"content-length:", b"content-length: ", L + b";", b"content-length: 999999999999", b"content-length: 5\x00",
    b"content-length: 18446744073709551703", b"content-length: 99999999", b"content-length: 1e2", b"content-length: 000",
    b"content-length: 00%d" % len(BODY), b"content-length:%d" % len(BODY), b"content-length:\t%d" % len(BODY), L + b" ",
    L + b"\r\n" + L, L + b"\r\ncontent-length: 1", b"content-length: 1\r\nContent-Length: %d" % len(BODY),
    L + b"\r\n content-length: 1", L + b"\ncontent-length: 1", b"content-length : 5", b"content-length: \xd9\xa8\xd9\xa7",
    b"transfer-encoding: chunked", b"transfer-encoding: chunked\r\n" + L, L + b"\r\nTransfer-Encoding: chunked",
    L + b"\r\ntransfer-encoding: identity", L + b"\r\ntransfer-encoding: xchunked", L + b"\r\ntransfer-encoding : chunked",
    L + b"\r\ntransfer-encoding:\tchunked", L + b"\r\nx: y\rtransfer-encoding: chunked", b"",
]  # fmt: skip


@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_means_the_same_to_everybody(doors: Doors, length: bytes) -> None:
    check(doors, request(length=length))


@pytest.mark.parametrize("off", [-60, -1, 1, 40, 900])
def test_a_wrong_length_gives_nothing_away(doors: Doors, off: int) -> None:
    found = check(doors, request(length=b"content-length: %d" % (len(BODY) + off)))
    assert found[0].status == 400


HIDDEN = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n"


def test_a_body_that_was_refused_unread_is_not_waited_for(doors: Doors) -> None:
    """A byte now and then does not hold the connection."""
    with socket.create_connection(("127.0.0.1", doors.lane), 20) as line:
        line.sendall(request(length=b"content-length: 99999999"))
        assert b" 413 " in line.recv(4_096)
        with pytest.raises(ConnectionError):
            drip(line, seconds=15)


def drip(line: socket.socket, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line.sendall(b"x")
        time.sleep(0.1)


def test_a_request_inside_a_body_stays_there(doors: Doors) -> None:
    inside = check(doors, request(HIDDEN))
    assert [answer.status for answer in inside] == [400, 200]
    behind = check(doors, request(BODY + HIDDEN, length=L))
    assert [answer.status for answer in behind] == [200, 200, 200]
    assert b"alice" in behind[0].body and b"alice" not in behind[1].body


CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize(
    "body", [CHUNKED, CHUNKED + HIDDEN, b"0\r\n\r\n" + HIDDEN, b"-1\r\n\r\n", b"5;x=\n\r\n", CHUNKED[:-5] + HIDDEN]
)
def test_chunks_behind_a_known_head_are_the_parsers(doors: Doors, body: bytes) -> None:
    check(doors, request(body, length=b"transfer-encoding: chunked"))


STARTS = [
    b"\r\nPOST /graphql HTTP/1.1\r\n", b"\r\n\r\nPOST /graphql HTTP/1.1\r\n", b"\nPOST /graphql HTTP/1.1\r\n",
    b" POST /graphql HTTP/1.1\r\n", b"POST  /graphql HTTP/1.1\r\n", b"POST /graphql  HTTP/1.1\r\n", b"post /graphql HTTP/1.1\r\n",
    b"POST /graphql HTTP/1.0\r\n", b"POST /graphql HTTP/0.9\r\n", b"POST /graphql HTTP/2.0\r\n", b"POST /graphql\r\n",
    b"POST http://localhost/graphql HTTP/1.1\r\n", b"POST http://evil.example/graphql HTTP/1.1\r\n", b"POST /graphql?a=b HTTP/1.1\r\n",
    b"POST /graphql# HTTP/1.1\r\n", b"POST /graphql/ HTTP/1.1\r\n", b"POST //graphql HTTP/1.1\r\n", b"POST /%67raphql HTTP/1.1\r\n",
    b"POST /x/../graphql HTTP/1.1\r\n", b"POST /graphql\x00 HTTP/1.1\r\n", b"GET /graphql HTTP/1.1\r\n", b"PUT /graphql HTTP/1.1\r\n",
    b"POST /graphql HTTP/1.1\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("start", STARTS)
def test_a_request_line_means_the_same_to_everybody(doors: Doors, start: bytes) -> None:
    check(doors, request(start=start))


MORE = [
    b"expect: 100-continue", b"Expect: 100-Continue", b"expect: something", b"connection: close", b"connection: keep-alive, close",
    b"Connection: upgrade\r\nUpgrade: websocket", b"connection: upgrade\r\nupgrade: h2c", b"host: localhost", b"host: evil.example",
    b"content-type: text/plain", b"content-encoding: gzip", b"origin: https://evil.example", b"accept: text/html",
    b"accept: text/event-stream", b"accept-encoding: gzip", b"x-request-id: \xff", b"x-request-id: a b", b"x-request-id: ok",
    b"x-request-id:\tok", b"x: \x01", b"x: \x00", b"x y: z", b": z", b"x", b"x: a\r\n b", b"x: a\r\n\tcontent-length: 5", b"x: a\nb: c",
    b"authorization: Bearer nobody", b"authorization: Basic eDp5", b"x: " + b"y" * 9_000, b"\r\n".join(b"x%d: y" % n for n in range(60)),
    b"x-forwarded-for: 10.0.0.1", b"x-forwarded-host: evil.example", b"sec-fetch-site: cross-site",
]  # fmt: skip


@pytest.mark.parametrize("more", MORE)
def test_a_header_more_means_the_same_to_everybody(doors: Doors, more: bytes) -> None:
    check(doors, request(BODY, more))


def test_requests_may_come_in_any_pieces(doors: Doors) -> None:
    whole = request()
    with socket.create_connection(("127.0.0.1", doors.lane), 20) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in range(1, len(whole)):
            line.sendall(whole)  # known again
            line.sendall(whole[:cut])
            time.sleep(0.001)
            line.sendall(whole[cut:] + whole)
            heard = b""
            while heard.count(b'"alice"') < 3:
                heard += line.recv(65_536)
            assert [answer.status for answer in answers(heard)] == [200] * 3, cut


def test_bytes_changed_at_random_mean_the_same_to_everybody(doors: Doors) -> None:
    chance, whole = random.Random(6), request()
    for _ in range(60):
        attack = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2])):
            at = chance.randrange(len(whole) - len(BODY))
            attack[at] = chance.choice(b"\r\n\t :,;0159aA\x00\xff")
        check(doors, bytes(attack))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, dict[str, bytes]]]:
    folder: Path = tmp_path_factory.mktemp("lane")
    file = folder / "tokens.jsonl"
    keys = {role: create_token(file, StoredToken("", f"the_{role}", (role,))) for role in ("reader", "writer")}
    with served(Settings(store="memory:", token_file=str(file)), FastPathProtocol) as port:
        lines = {role: f"authorization: Bearer {key}".encode() for role, key in keys.items()}
        heard_by(port, *[request(ADD, lines["writer"])] * 2, request(ADD, lines["writer"], b"connection: close"))
        yield port, lines


def test_every_request_is_made_by_who_says_so_in_it(guarded: tuple[int, dict[str, bytes]]) -> None:
    """Whoever spoke on the connection before, and however often."""
    port, lines = guarded
    writer, reader, wrong, nobody = lines["writer"], lines["reader"], lines["writer"][:-1] + b"~", b""
    asked = [writer, writer, writer, reader, writer, wrong, writer, nobody, writer, reader, reader, writer]

    heard = heard_by(port, *(request(ADD, line) for line in asked), request(ADD, writer, b"connection: close"))

    expected = {writer: (200, b'"node":'), reader: (403, b"FORBIDDEN"), wrong: (401, b""), nobody: (401, b"")}
    for answer, line in zip(answers(heard), [*asked, writer], strict=True):
        status, text = expected[line]
        assert answer.status == status and text in answer.body, (line, answer)
