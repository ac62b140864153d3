"""The lane at the door: the same answers on the same socket, and everything else is handed on untouched."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.processes import Gateway, serving

POINT = '{"query":"query($id: ID!) { graphNode(id: $id) { id type properties } }","variables":{"id":"%b"}}'
ADD = b'{"query":"mutation { addNode(input: {id: \\"lane\\", type: \\"t\\"}) { node { id } } }"}'
TIME = re.compile(rb'"(created|modified)":\d+')
"""Times of the element in a version conflict."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("lane"), "--store", "memory:") as found:
        ask(found, b'{"query":"mutation { loadDemo { nodes } }"}')
        ask(found, point(b"x"))
        yield found


def point(id: bytes) -> bytes:
    return POINT.encode() % id


def request(gateway: Gateway, body: bytes, *lines: bytes, path: bytes = b"/graphql") -> bytes:
    head = [b"POST %b HTTP/1.1" % path, b"host: 127.0.0.1:%d" % gateway.port, b"content-type: application/json", *lines]
    return b"\r\n".join([*head, b"content-length: %d" % len(body), b"", body])


class Line:
    """One connection."""

    def __init__(self, gateway: Gateway, connected: socket.socket | None = None) -> None:
        self.socket = connected or socket.create_connection(("127.0.0.1", gateway.port), 10)
        self.file = self.socket.makefile("rb")

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.socket.sendall(piece)

    def answer(self) -> tuple[int, dict[bytes, bytes], bytes]:
        status = int(self.file.readline().split()[1])
        headers = dict(line.strip().split(b": ", 1) for line in iter(self.file.readline, b"\r\n"))
        return status, headers, self.file.read(int(headers[b"content-length"]))


def ask(gateway: Gateway, body: bytes, *lines: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    line = Line(gateway)
    line.send(request(gateway, body, *lines))
    return line.answer()


def test_both_ways_give_the_same_answer_and_the_same_headers(gateway: Gateway) -> None:
    quick = ask(gateway, point(b"alice"), b"x-request-id: one")
    usual = ask(gateway, point(b"alice"), b"x-request-id: one", b"x-twice: 1", b"x-twice: 2")
    assert quick[0] == usual[0] == 200 and quick[2] == usual[2] and b"properties" in quick[2]
    assert {**quick[1], b"date": b""} == {**usual[1], b"date": b""}


def test_one_connection_is_used_again_and_again(gateway: Gateway) -> None:
    line = Line(gateway)
    for id in (b"alice", b"bob-with-another-length", b"alice"):
        line.send(request(gateway, point(id)))
        status, _, body = line.answer()
        assert status == 200 and (b'"alice"' in body) == (id == b"alice")


def test_requests_sent_at_once_are_answered_in_their_order(gateway: Gateway) -> None:
    line = Line(gateway)
    line.send(request(gateway, point(b"alice")) + request(gateway, ADD) + request(gateway, point(b"lane")) * 2)
    answers = [line.answer() for _ in range(4)]
    assert [status for status, _, _ in answers] == [200] * 4
    assert b"alice" in answers[0][2] and b"addNode" in answers[1][2]
    assert answers[2][2] == answers[3][2] and b'"lane"' in answers[2][2]


def test_a_body_in_pieces_is_waited_for(gateway: Gateway) -> None:
    line, whole = Line(gateway), request(gateway, point(b"alice"))
    for cut in (len(whole) - 1, len(whole) - 30, 20):
        line.send(whole[:cut], whole[cut:])
        status, _, body = line.answer()
        assert status == 200 and b"alice" in body


def test_what_is_wrong_is_refused_as_ever(gateway: Gateway) -> None:
    assert ask(gateway, b"{")[0] == 400
    assert ask(gateway, b"[]")[0] == 400
    status, _, body = ask(gateway, b'{"query":"{ nothing }"}')
    assert status == 200 and b"errors" in body
    assert ask(gateway, point(b"alice"), b"content-encoding: gzip")[0] >= 400
    assert ask(gateway, point(b"alice"), b"transfer-encoding: chunked")[0] == 400


def test_a_caller_who_closes_is_told_so(gateway: Gateway) -> None:
    line = Line(gateway)
    line.send(request(gateway, point(b"alice"), b"connection: close"))
    status, headers, _ = line.answer()
    assert (status, headers[b"connection"]) == (200, b"close") and line.file.read() == b""


CHANGES = [
    (
        "addNode",
        'input: {id: $id, type: "t", properties: {a: 1}, clientMutationId: "mine"}',
        "node { id type properties }",
    ),
    ("addNode", 'input: {id: $id, type: "t"}', "node { id }"),
    ("addNode", 'input: {id: $id, type: "t", expectedVersion: 3}', "node { id }"),
    ("updateNode", "input: {id: $id, properties: {b: [2]}}", "node { id properties version }"),
    ("updateNode", "input: {id: $id, properties: {b: [2]}}", "node { id properties } event { type }"),
    ("updateNode", "input: {id: $id, properties: {c: 3}, idempotencyKey: $key}", "node { id properties version }"),
    ("updateNode", "input: {id: $id, properties: {c: 3}, idempotencyKey: $key}", "node { id properties version }"),
    ("updateNode", "input: {id: $id, properties: {c: 4}, idempotencyKey: $key}", "node { id properties version }"),
    ("updateNode", "input: {id: $id, properties: {d: 1}, expectedVersion: 1}", "node { id }"),
    ("addEdge", 'input: {id: $edge, from: $id, to: "nowhere", type: "t"}', "edge { from to } warnings { code }"),
    ("updateEdge", "input: {id: $edge, weight: 2}", "edge { id weight } event { type }"),
    ("updateEdge", "input: {id: $none, weight: 2}", "edge { id }"),
    ("updateNode", "input: {id: $id, properties: 3}", "node { id }"),
]


def test_changes_are_told_alike_on_the_lane_and_off_it(tmp_path: Path) -> None:
    """Each is asked thrice: of an id that nobody else uses, so that its document is known, and then both ways."""
    told: dict[bytes, list[tuple[int, bytes]]] = {}
    with serving(tmp_path, "--store", "memory:") as gateway:
        for way, lines in ((b"known", ()), (b"quick", ()), (b"usual", (b"x-twice: 1", b"x-twice: 2"))):
            line, told[way] = Line(gateway), []
            values = {"id": way.decode(), "edge": f"{way.decode()}-edge", "none": "none", "key": way.decode()}
            for name, given, wanted in CHANGES:
                named = [each for each in values if f"${each}" in given]
                types = ", ".join(f"${each}: {'String' if each == 'key' else 'ID'}!" for each in named)
                text = f"mutation({types}) {{ {name}({given}) {{ {wanted} clientMutationId }} }}"
                body = json.dumps({"query": text, "variables": {each: values[each] for each in named}})
                line.send(request(gateway, body.encode(), *lines))
                status, _, answer = line.answer()
                told[way].append((status, TIME.sub(rb'"\1":0', answer.replace(way, b"it"))))
    assert told[b"quick"] == told[b"usual"]
    assert [b'"errors"' in answer for _, answer in told[b"quick"]].count(False) >= 7
