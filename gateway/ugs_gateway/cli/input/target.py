"""The target of a command: a store opened in this process or a running gateway, and the point in time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.input.arguments import parse_whole_number
from ugs_gateway.cli.output.streams import UsageError
from ugs_gateway.defaults import store_in
from ugs_gateway.observability.redaction import mask_url

if TYPE_CHECKING:
    from datetime import datetime

    from ugs_gateway.cli.clients import GraphClient

PLACE_HELP = """where and when:
  --store URL      the store (default: UGS_STORE, else ugs.toml, else file:./data)
  --data-dir DIR   the same as --store file:DIR
  --config FILE    settings file in TOML (default: ./ugs.toml)
  --url URL        a running gateway instead of a store (default: UGS_URL)
  --token KEY      the key to log in with there (default: UGS_TOKEN)
  --at PLACE       read as of a position in the log, or a time such as 2026-01-31T12:00:00Z
  --agent, --human the voice of the answers (help modes)
"""

OPTIONS_WITH_VALUE = ("--store", "--backend", "--data-dir", "--config", "--url", "--token", "--at")
URL_VARIABLE, TOKEN_VARIABLE = "UGS_URL", "UGS_TOKEN"


class Target(NamedTuple):
    """The options that select store or gateway, and time."""

    options: dict[str, str] = {}

    @property
    def url(self) -> str | None:
        """The URL of the gateway; None if a store is named."""
        given = self.options.get("url")
        return given or (None if self.names_store else os.environ.get(URL_VARIABLE))

    @property
    def words(self) -> str:
        """The target for people; passwords in URLs are masked."""
        return mask_url(self.url or self.options.get("store") or "the default store")

    @property
    def names_store(self) -> bool:
        return any(name in self.options for name in ("store", "config"))

    @property
    def token(self) -> str | None:
        return self.options.get("token") or os.environ.get(TOKEN_VARIABLE)


def take_target(words: Sequence[str]) -> tuple[Target, list[str]]:
    """Parse the target options; returns the target and the other words. Nothing behind `--` is parsed."""
    options: dict[str, str] = {}
    others: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return Target(_check_options(options)), [*others, word, *left]
        name, equals, value = word.partition("=")
        if name not in OPTIONS_WITH_VALUE:
            others.append(word)
            continue
        if not equals and not left:
            raise UsageError(f"{name} needs a value")
        options[name[2:]] = value if equals else left.pop(0)
    return Target(_check_options(options)), others


def _check_options(options: dict[str, str]) -> dict[str, str]:
    """Resolve synonyms of options, and refuse contradictions."""
    stores = [
        *(options.pop(name) for name in ("store", "backend") if name in options),
        *(store_in(options.pop(name)) for name in ("data-dir",) if name in options),
    ]
    if len(stores) > 1 or (stores and "url" in options):
        raise UsageError("say one place: --store, --data-dir or --url")
    url = options.get("url", "http://")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--url must begin with http:// or https://, got {url!r}")
    return {**options, **({"store": stores[0]} if stores else {})}


@asynccontextmanager
async def open_client(target: Target, create: bool = False) -> AsyncIterator[GraphClient]:
    """A client for the target, closed at the end; a missing store is created only if `create`."""
    if target.url is not None:
        async with _open_remote(target) as port:
            yield port
    else:
        async with _open_local(target, create) as port:
            yield port


@asynccontextmanager
async def _open_remote(target: Target) -> AsyncIterator[GraphClient]:
    from ugs_gateway.cli.clients.http import Client
    from ugs_gateway.cli.clients.remote import RemoteClient

    moment = parse_at(target)
    client = Client(target.url or "", target.token)
    try:
        port = RemoteClient(client)
        yield port if moment is None else port.at_time(moment)
    finally:
        client.close()


@asynccontextmanager
async def _open_local(target: Target, create: bool) -> AsyncIterator[GraphClient]:
    from ugs_gateway.cli.clients.local import LocalClient
    from ugs_gateway.cli.open_store import open_target

    moment = parse_at(target)
    async with open_target(target, create) as system:
        port = LocalClient(system)
        yield port if moment is None else port.at_time(moment)


def parse_at(target: Target) -> int | datetime | None:
    """The log position or time to read at; None: the present."""
    text = target.options.get("at")
    if text is None:
        return None
    try:
        return parse_place(text, "--at")
    except InvalidSyntax as error:
        raise UsageError(error.message) from error


def parse_place(text: str, name: str) -> int | datetime:
    """Parse a place in time: a log position, or a time with its zone."""
    if text.isascii() and text.isdigit():
        return parse_whole_number(text, name)
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidSyntax(f"{name} takes a position or a time such as 2026-01-31T12:00:00Z, got {text[:40]!r}")
    return moment
