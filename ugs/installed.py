"""Which installed packages declare what: entry points, read straight from the files that hold them.

`importlib.metadata` answers the same questions and takes longer to load than a small command to run. It is still asked
where packages may lie that are no plain folders: zip files, eggs, or finders of somebody else's making.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Iterator

METADATA = (".dist-info", ".egg-info")


def declared(group: str) -> dict[str, str]:
    """The entry points of a group, `module:attribute` by name; of two with one name the first on the path counts."""
    found: dict[str, str] = {}
    for name, value in _entries(group):
        found.setdefault(name, value)
    return found


def declared_as(group: str, name: str) -> str | None:
    """The one entry point of a group with this name; packages behind it on the path are not looked at."""
    return next((value for known, value in _entries(group) if known == name), None)


def _entries(group: str) -> Iterator[tuple[str, str]]:
    """The entry points of a group, those that count before those that do not."""
    if not _is_plain():
        yield from _asked(group)
        return
    for text in _declarations():
        if group in text:
            yield from _section(text, group)


def _is_plain() -> bool:
    """Whether every package is a folder beside its metadata, as far as the path tells."""
    strangers = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return len(strangers) <= 1 and not any(os.path.isfile(folder) or folder.endswith(".egg") for folder in sys.path)


def _declarations() -> Iterator[str]:
    """The entry points of each package; a package that is there twice counts where the path comes to it first."""
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
            # Extras behind the value, in brackets, are for installers.
            yield name.strip(), value.partition("[")[0].strip()


def _asked(group: str) -> Iterator[tuple[str, str]]:
    from importlib.metadata import entry_points

    return ((entry.name, entry.value.partition("[")[0].strip()) for entry in entry_points(group=group))


def load(value: str) -> object:
    """What an entry point names."""
    module, _, path = value.partition(":")
    __import__(module)
    found: object = sys.modules[module]
    for name in path.split(".") if path else ():
        found = getattr(found, name)
    return found
