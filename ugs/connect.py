"""From a URL to a store: backends are found by entry point, never by import."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import cast

from ugs.errors import UnknownStore
from ugs.storage import Storage
from ugs.support.entry_points import declared, load

BACKENDS = "ugs.backends"
_EXTRA = re.compile(r"extra == ['\"](\w+)")


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
        # A backend may import its driver with itself, or only once a URL asks for it.
        return cast(Callable[[str], Storage], load(found))(url)
    except ModuleNotFoundError as error:
        raise UnknownStore(
            f"The backend {name!r} needs the package {error.name!r}: pip install {_what_brings(str(error.name))}",
            scheme=name,
            package=error.name,
        ) from error


def _what_brings(package: str) -> str:
    """The smallest extra of ours that requires a package, or the package; a scheme need not be called like an extra."""
    from importlib.metadata import requires  # long to import, as `entry_points` says

    required = [(line, found[1]) for line in requires("ugs-gateway") or () if (found := _EXTRA.search(line))]
    sizes = Counter(extra for _, extra in required)
    fitting = [extra for line, extra in required if re.match(rf"{re.escape(package)}(?![\w.-])", line)]
    return f"'ugs-gateway[{min(fitting, key=sizes.__getitem__)}]'" if fitting else package
