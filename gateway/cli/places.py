"""Where a command works: a store opened here, or a gateway that somebody runs; and when."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from gateway.cli.outcome import Misused
from gateway.cli.usage import whole_number
from gateway.masking import without_secrets
from gateway.stores import store_in

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.cli.ports import Port

PLACE_HELP = """where and when:
  --store URL      the store (default: UGS_STORE, else ugs.toml, else file:./data)
  --data-dir DIR   the same as --store file:DIR
  --config FILE    settings file in TOML (default: ./ugs.toml)
  --url URL        a running gateway instead of a store (default: UGS_URL)
  --token KEY      the key to log in with there (default: UGS_TOKEN)
  --at PLACE       read as of a position in the log, or a time such as 2026-01-31T12:00:00Z
  --agent, --human the voice of the answers (help modes)
"""

VALUED = ("--store", "--backend", "--data-dir", "--config", "--url", "--token", "--at")
URL_VARIABLE, TOKEN_VARIABLE = "UGS_URL", "UGS_TOKEN"


class Place(NamedTuple):
    """What was said about where and when."""

    options: dict[str, str] = {}

    @property
    def url(self) -> str | None:
        """The gateway that was named, unless a store was named beside it."""
        given = self.options.get("url")
        return given or (None if self.names_store else os.environ.get(URL_VARIABLE))

    @property
    def words(self) -> str:
        """The place for people; a URL may hold a password."""
        return without_secrets(self.url or self.options.get("store") or "the default store")

    @property
    def names_store(self) -> bool:
        return any(name in self.options for name in ("store", "config"))

    @property
    def token(self) -> str | None:
        return self.options.get("token") or os.environ.get(TOKEN_VARIABLE)


def take_place(words: Sequence[str]) -> tuple[Place, list[str]]:
    """The place that options among the words name, and the other words; nothing behind `--` is touched."""
    options: dict[str, str] = {}
    others: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return Place(_checked(options)), [*others, word, *left]
        name, equals, value = word.partition("=")
        if name not in VALUED:
            others.append(word)
            continue
        if not equals and not left:
            raise Misused(f"{name} needs a value")
        options[name[2:]] = value if equals else left.pop(0)
    return Place(_checked(options)), others


def _checked(options: dict[str, str]) -> dict[str, str]:
    """One name for what has several, and no contradiction."""
    stores = [
        *(options.pop(name) for name in ("store", "backend") if name in options),
        *(store_in(options.pop(name)) for name in ("data-dir",) if name in options),
    ]
    if len(stores) > 1 or (stores and "url" in options):
        raise Misused("say one place: --store, --data-dir or --url")
    url = options.get("url", "http://")
    if not url.startswith(("http://", "https://")):
        raise Misused(f"--url must begin with http:// or https://, got {url!r}")
    return {**options, **({"store": stores[0]} if stores else {})}


@asynccontextmanager
async def opened_port(place: Place) -> AsyncIterator[Port]:
    """A port on the place, closed at the end."""
    if place.url is not None:
        async with _gateway_port(place) as port:
            yield port
    else:
        async with _local_port(place) as port:
            yield port


@asynccontextmanager
async def _gateway_port(place: Place) -> AsyncIterator[Port]:
    from gateway.cli.ports.gateway import GatewayPort
    from gateway.cli.ports.http import Client

    moment = _moment(place)
    at = {"position": moment} if isinstance(moment, int) else {"instant": moment.isoformat()} if moment else None
    client = Client(place.url or "", place.token)
    try:
        yield GatewayPort(client, at)
    finally:
        client.close()


@asynccontextmanager
async def _local_port(place: Place) -> AsyncIterator[Port]:
    from gateway.cli.opening import opened_at
    from gateway.cli.ports.local import LocalPort
    from ugs.moments import At

    moment = _moment(place)
    at = At(position=moment) if isinstance(moment, int) else At.time(moment) if moment else None
    async with opened_at(place) as system:
        yield LocalPort(system, at)


def _moment(place: Place) -> int | datetime | None:
    """The position or the time to read at."""
    text = place.options.get("at")
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return whole_number(text, "--at")
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Misused(f"--at takes a position or a time such as 2026-01-31T12:00:00Z, got {text[:40]!r}")
    return moment
