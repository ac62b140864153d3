"""Opens the store of a command, and runs the command's coroutine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugs.errors import InvalidSyntax, StorageIOError, UgsError
from ugs.storage import Storage
from ugs.system import System
from ugs_gateway.cli.input.target import Target
from ugs_gateway.cli.output.streams import NotOpened, UsageError, say
from ugs_gateway.defaults import store_in
from ugs_gateway.observability.redaction import without_secrets
from ugs_gateway.settings import Settings, load_settings

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_store_options(parser: ArgumentParser) -> None:
    """Declare the options that select a store."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--store", "--backend", metavar="URL", dest="store", help="the store (default: UGS_STORE, else file:./data)"
    )
    place.add_argument("--data-dir", metavar="DIR", dest="store", type=store_in, help="the same as --store file:DIR")
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings file in TOML (default: ./ugs.toml)")


def settings_of(options: Namespace) -> Settings:
    """The settings from options, environment and file."""
    flags = {name: value for name, value in vars(options).items() if name in Settings.__struct_fields__}
    return _settings(flags, getattr(options, "config", None))


def _settings(flags: dict[str, Any], file: Path | None) -> Settings:
    try:
        return load_settings(flags, os.environ, file)
    except InvalidSyntax as error:
        raise UsageError(error.message) from error


@asynccontextmanager
async def open_system(options: Namespace, create: bool = False) -> AsyncIterator[System]:
    """The system on the selected store, which must exist unless `create`."""
    async with _open(settings_of(options).store, create) as system:
        yield system


@asynccontextmanager
async def open_target(target: Target, create: bool = False) -> AsyncIterator[System]:
    """The system on the store of a target, which must exist unless `create`."""
    file = target.options.get("config")
    flags = {"store": target.options["store"]} if "store" in target.options else {}
    async with _open(_settings(flags, None if file is None else Path(file)).store, create) as system:
        yield system


@asynccontextmanager
async def _open(url: str, create: bool) -> AsyncIterator[System]:
    """The system on a store, closed at the end; a store that a failing command has only created is removed again."""
    new = create and would_create(url)
    system = await open_or_refuse(url, create)
    done = False
    try:
        yield system
        done = True
    finally:
        await system.close()
        if new and not done:
            await system.storage.remove_if_empty()


def would_create(url: str) -> bool:
    """Whether opening a URL makes a new store; False where the URL is wrong, which opening tells."""
    try:
        return not System.at_url(url).storage.is_there()
    except UgsError:
        return False


async def open_or_refuse(url: str, create: bool = False) -> System:
    """An open system; an error while opening is raised as `NotOpened`, to distinguish it from a failing command."""
    try:
        system = System.at_url(url)
        if not create:
            check_exists(system.storage)
        await system.open()
    except UgsError as error:
        raise NotOpened(url) from error
    print_warnings(system.storage)
    return system


def check_exists(storage: Storage) -> None:
    """Refuse a store that does not exist: a read never creates one, and its name was probably mistyped."""
    if not storage.is_there():
        raise StorageIOError(
            f"There is no store yet: {without_secrets(storage.describe())}. `ugs load-demo`, `add-node` or `import` "
            "make one there; --store and --data-dir name another."
        )


def print_warnings(storage: Storage) -> None:
    """Print warnings from opening the store."""
    for warning in storage.warnings:
        say(f"warning: {warning}")


def run_coroutine(work: Coroutine[Any, Any, int]) -> int:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)
