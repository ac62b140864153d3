"""The server uses our HTTP protocol with the versions of uvicorn that have what it extends, and uvicorn's with others."""

from __future__ import annotations

import asyncio
import logging
import re
import tomllib

import httpx2
import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tests.servers.places import PROJECT
from ugs_gateway.app import create_app
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.http import protocol_choice
from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol
from ugs_gateway.http.protocol_choice import FAST_PATH_INTERNALS, choose_protocol, find_internals
from ugs_gateway.server import Server, bind, serving_config
from ugs_gateway.settings import Settings

QUERY = {"query": "{ stats { nodes } }"}


def test_the_installed_version_has_everything_and_lies_below_the_bound() -> None:
    assert find_internals() >= FAST_PATH_INTERNALS
    assert choose_protocol() is FastPathProtocol
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    (line,) = [line for line in project["dependencies"] if line.startswith("uvicorn")]
    bound = re.search(r"<(\d+)\.(\d+)$", line)
    assert bound is not None, "an unknown version must not be installed unnoticed"
    installed = tuple(map(int, uvicorn.__version__.split(".")[:2]))
    assert installed < tuple(map(int, bound.groups())), "the lock holds the newest version within the bound"


@pytest.mark.parametrize("missing", sorted(FAST_PATH_INTERNALS - protocol_choice.HEADER_TIMEOUT_INTERNALS))
def test_without_something_that_the_fast_path_uses_only_the_header_timeout_stays(
    missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(protocol_choice, "find_internals", lambda: FAST_PATH_INTERNALS - {missing})
    assert choose_protocol() is HeaderTimeoutProtocol
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and record.fields["missing"] == missing  # type: ignore[attr-defined]


def test_a_protocol_that_lost_a_method_or_an_attribute_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(HttpToolsProtocol, "on_body")

    def other(self: HttpToolsProtocol) -> None:
        self.app = None  # type: ignore[assignment]

    monkeypatch.setattr(HttpToolsProtocol, "__init__", other)
    assert FAST_PATH_INTERNALS - find_internals() >= {"on_body", "flow", "pipeline", "tasks"}


async def test_a_gateway_on_an_unknown_uvicorn_answers_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(protocol_choice, "find_internals", lambda: frozenset[str]())
    settings, ready = Settings(store="memory:", port=0), asyncio.Event()
    config, listener = serving_config(create_app(settings), settings), bind(settings)
    assert config.http == "auto"
    assert [record.levelno for record in caplog.records if record.name == "ugs_gateway"] == [logging.WARNING] * 2
    server = Server(config, ready.set)
    serving = asyncio.create_task(server.serve([listener]))
    await asyncio.wait_for(ready.wait(), 30)
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"http://127.0.0.1:{listener.getsockname()[1]}/graphql", json=QUERY)
    assert answer.json() == {"data": {"stats": {"nodes": 0}}}
    server.should_exit = True
    await asyncio.wait_for(serving, 20)
