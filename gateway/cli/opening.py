"""Opening the store a command works on, and running the command's coroutine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.outcome import Misused, NotOpened, say
from gateway.cli.places import Place
from gateway.settings import Settings, load_settings
from ugs.errors import InvalidSyntax, UgsError
from ugs.storage import Storage
from ugs.system import System

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def store_argument(parser: ArgumentParser) -> None:
    """The options that choose a store."""
    parser.add_argument("--store", metavar="URL", help="the store (default: UGS_STORE, else file:./data)")
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings file in TOML (default: ./ugs.toml)")


def settings_of(options: Namespace) -> Settings:
    """The settings from options, environment and file."""
    flags = {name: value for name, value in vars(options).items() if name in Settings.__struct_fields__}
    return _settings(flags, getattr(options, "config", None))


def _settings(flags: dict[str, Any], file: Path | None) -> Settings:
    try:
        return load_settings(flags, os.environ, file)
    except InvalidSyntax as error:
        raise Misused(error.message) from error


@asynccontextmanager
async def opened(options: Namespace) -> AsyncIterator[System]:
    """The system on the store that options choose."""
    async with _open(settings_of(options).store) as system:
        yield system


@asynccontextmanager
async def opened_at(place: Place) -> AsyncIterator[System]:
    """The system on the store of a place."""
    file = place.options.get("config")
    flags = {"store": place.options["store"]} if "store" in place.options else {}
    async with _open(_settings(flags, None if file is None else Path(file)).store) as system:
        yield system


@asynccontextmanager
async def _open(url: str) -> AsyncIterator[System]:
    system = await opened_or_words(url)
    try:
        yield system
    finally:
        await system.close()


async def opened_or_words(url: str) -> System:
    """An open system; a store that does not open is told apart from a command that fails."""
    try:
        system = System.at_url(url)
        await system.open()
    except UgsError as error:
        raise NotOpened(url) from error
    tell_warnings(system.storage)
    return system


def tell_warnings(storage: Storage) -> None:
    """Say what a person should know about how the store opened."""
    for warning in storage.warnings:
        say(f"warning: {warning}")


def wait_for(work: Coroutine[Any, Any, int]) -> int:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)
