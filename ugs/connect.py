"""From a URL to a store: backends are found by entry point, never by import."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from ugs.errors import UnknownStore
from ugs.storage import Storage

GROUP = "ugs.backends"


@cache
def _entries() -> dict[str, EntryPoint]:
    """The backends that are installed; looking through all packages takes milliseconds, so it is done once."""
    return {entry.name: entry for entry in reversed(tuple(entry_points(group=GROUP)))}


def backend_names() -> list[str]:
    """The URL schemes that can be opened here."""
    return sorted(_entries())


def storage_for(url: str) -> Storage:
    """A store for the URL, not opened yet."""
    scheme, colon, _ = url.partition(":")
    name = scheme.partition("+")[0]
    found = _entries().get(name) if colon else None
    if found is None:
        raise UnknownStore(
            f"No backend answers to {scheme + colon!r}. Known: {', '.join(n + ':' for n in backend_names())}",
            scheme=scheme,
        )
    try:
        make = cast(Callable[[str], Storage], found.load())
    except ModuleNotFoundError as error:
        raise UnknownStore(
            f"The backend {name!r} needs the package {error.name!r}: pip install 'ugs-gateway[{name}]'",
            scheme=name,
            package=error.name,
        ) from error
    return make(url)
