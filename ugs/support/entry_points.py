"""Entry points of installed packages, read directly from their `entry_points.txt`.

`importlib.metadata` does the same, but takes longer to import than a small command takes to run. It is still used where
packages may not be plain folders: zip files, eggs, or custom finders.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Iterator

METADATA = (".dist-info", ".egg-info")


def declared(group: str) -> dict[str, str]:
    """The entry points of a group, `module:attribute` by name; for equal names the first on the path wins."""
    found: dict[str, str] = {}
    for name, value in _entries(group):
        found.setdefault(name, value)
    return found


def declared_as(group: str, name: str) -> str | None:
    """The first entry point of a group with this name; stops searching there."""
    return next((value for known, value in _entries(group) if known == name), None)


def _entries(group: str) -> Iterator[tuple[str, str]]:
    """The entry points of a group, in path order: those that win come first."""
    if not _is_plain():
        yield from _asked(group)
        return
    for text in _declarations():
        if group in text:
            yield from _section(text, group)


def _is_plain() -> bool:
    """Whether all packages are plain folders beside their metadata, judging by `sys.path` and the finders."""
    strangers = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return len(strangers) <= 1 and not any(os.path.isfile(folder) or folder.endswith(".egg") for folder in sys.path)


def _declarations() -> Iterator[str]:
    """The `entry_points.txt` of each package; a package installed twice counts where it is first on the path."""
    seen = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(METADATA):
                package = name.rpartition(".")[0].partition("-")[0].replace(".", "_").lower()
                if package not in seen:
                    seen.add(package)
                    yield _text(os.path.join(folder, name, "entry_points.txt"))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _section(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            # Extras in brackets after the value are for installers only.
            yield name.strip(), value.partition("[")[0].strip()


def _asked(group: str) -> Iterator[tuple[str, str]]:
    from importlib.metadata import entry_points

    return ((entry.name, entry.value.partition("[")[0].strip()) for entry in entry_points(group=group))


def load(value: str) -> object:
    """Import the object that an entry point names."""
    module, _, path = value.partition(":")
    __import__(module)
    found: object = sys.modules[module]
    for name in path.split(".") if path else ():
        found = getattr(found, name)
    return found
