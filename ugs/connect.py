"""From a URL to a store: backends are found by entry point, never by import."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

from ugs.errors import UnknownStore
from ugs.storage import Storage
from ugs.support.entry_points import declared, load

BACKENDS = "ugs.backends"


def backend_of(url: str) -> str:
    """The backend name in the scheme of a URL; a suffix after `+` is interpreted by the backend."""
    scheme, colon, _ = url.partition(":")
    return scheme.partition("+")[0] if colon else ""


@cache
def _entries() -> dict[str, str]:
    """The installed backends, cached: scanning all packages takes milliseconds."""
    return declared(BACKENDS)


def backend_names() -> list[str]:
    """The URL schemes that can be opened here."""
    return sorted(_entries())


def storage_for(url: str) -> Storage:
    """A store for the URL, not opened yet."""
    name = backend_of(url)
    found = _entries().get(name)
    if found is None:
        scheme, colon, _ = url.partition(":")
        raise UnknownStore(
            f"No backend answers to {scheme + colon!r}. Known: {', '.join(n + ':' for n in backend_names())}",
            scheme=scheme,
            url=url if "@" not in url else None,
        )
    try:
        make = cast(Callable[[str], Storage], load(found))
    except ModuleNotFoundError as error:
        raise UnknownStore(
            f"The backend {name!r} needs the package {error.name!r}: pip install 'ugs-gateway[{name}]'",
            scheme=name,
            package=error.name,
        ) from error
    return make(url)
