"""From a URL to a store: backends are found by entry point, never by import."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import cast

from ugs.errors import UnknownStore
from ugs.storage import Storage

GROUP = "ugs.backends"


def backend_names() -> list[str]:
    """The URL schemes that can be opened here."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def storage_for(url: str) -> Storage:
    """A store for the URL, not opened yet."""
    scheme, colon, _ = url.partition(":")
    name = scheme.partition("+")[0]
    found = next(iter(entry_points(group=GROUP, name=name)), None) if colon else None
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
