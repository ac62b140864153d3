"""Where webhooks may lead: public addresses, checked once and then used, over https."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import pytest

from tests.gateway.webhooks.receiver import Receiver
from ugs_gateway.webhooks.http_client import DeliveryFailed, HttpClient, is_public, parse_head


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:169.254.169.254", "2001:db8::1", "192.0.2.1", "198.18.0.1"),
    ],
)
def test_an_address_that_is_not_of_the_internet_is_private(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::ffff:127.0.0.1]"]
)
async def test_no_way_of_writing_it_leads_to_this_machine(host: str) -> None:
    with Receiver() as receiver:
        url = f"https://{host}:{receiver.server.server_port}/hook"
        with pytest.raises(DeliveryFailed, match=r"private|connection failed|no address"):
            await HttpClient(False, 5).post(url, {}, b"{}")
        assert receiver.arrived == []


async def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def both(*given: Any, **named: Any) -> list[Any]:
        return [(2, 1, 6, "", ("8.8.8.8", 443)), (2, 1, 6, "", ("10.0.0.1", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
    with pytest.raises(DeliveryFailed, match="private"):
        await HttpClient(False, 5).post("https://mixed.example/", {}, b"{}")


async def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []

    async def public(host: str, port: int, **named: Any) -> list[Any]:
        used.append(host)
        return [(2, 1, 6, "", ("93.184.216.34", port))]

    async def connect(host: str, port: int, **named: Any) -> Any:
        used.append((host, named["server_hostname"]))
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", public)
    monkeypatch.setattr(asyncio, "open_connection", connect)
    with pytest.raises(DeliveryFailed, match="the connection failed: ConnectionRefusedError"):
        await HttpClient(False, 5).post("https://changing.example/", {}, b"{}")
    assert used == ["changing.example", ("93.184.216.34", "changing.example")]


async def test_plain_http_needs_the_setting() -> None:
    with pytest.raises(DeliveryFailed, match="must begin with https"):
        await HttpClient(False, 5).post("http://93.184.216.34/", {}, b"{}")


async def test_a_silent_receiver_and_one_that_speaks_something_else_are_failures() -> None:
    async def answer(says: bytes | None) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if says is None:
                await asyncio.sleep(5)
            await reader.readuntil(b"{}")
            writer.write(says or b"")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, family=socket.AF_INET)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(DeliveryFailed) as failed:
            await HttpClient(True, 0.5).post(url, {}, b"{}")
        server.close()
        return failed.value.reason

    assert await answer(None) == "no answer within 0.5 seconds"
    assert "ValueError" in await answer(b"SSH-2.0\r\n\r\n")
    assert "the connection failed" in await answer(b"HTTP/1.1 200 OK\r\n" + b"x" * 100_000)
    assert "the connection failed" in await answer(b"HTTP/1.1 200")


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with Receiver() as receiver:
        url = receiver.url.replace("http:", "https:")
        with pytest.raises(DeliveryFailed, match=r"TLS failed|connection failed"):
            await HttpClient(True, 5).post(url, {}, b"{}")
    assert HttpClient(True, 5)._context().verify_mode is ssl.CERT_REQUIRED


def test_the_head_of_an_answer_is_read() -> None:
    received = parse_head(b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n")
    assert (received.status, received.retry_after) == (503, 7.0)
    assert parse_head(b"HTTP/1.1 204 \r\nRetry-After: tomorrow\r\n\r\n").retry_after is None
