"""A check that our packages are ours: PyPI has other projects that install a `schema` or a `backends`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ugs.errors import UgsError

NAMES = ("schema", "backends", "conformance")


class ForeignPackage(UgsError):
    """Another project's package stands where one of ours should be."""

    code = "FOREIGN_PACKAGE"
    summary = "Another project's package is in the way"


def home_of(name: str) -> Path | None:
    """The folder that holds a package, found without importing it."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))).resolve().parent


def check_neighbours(names: tuple[str, ...] = NAMES) -> None:
    """Refuse to start when a package would be imported from somewhere else than beside the kernel."""
    ours = home_of("ugs")
    for name in names:
        home = home_of(name)
        if home != ours:
            found = "is missing" if home is None else f"would be imported from {home}"
            raise ForeignPackage(
                f"The package {name!r} {found}, but must lie beside 'ugs' in {ours}. "
                "Install ugs-gateway into an environment of its own, for instance with pipx or uvx.",
                package=name,
            )
