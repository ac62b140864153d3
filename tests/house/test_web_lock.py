"""The locks of web packages name everything that any machine needs, and no place to fetch it from."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.places import PROJECT

Lock = dict[str, dict[str, Any]]
FOLDERS = (PROJECT / "web", PROJECT / "examples" / "task_board")


def read(folder: Path) -> Lock:
    found: Lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    return found


def resolve(lock: Lock, name: str, place: str) -> bool:
    """Whether a package that is required at a place of the tree has an entry, there or above."""
    while True:
        if f"{place}{'/' if place else ''}node_modules/{name}" in lock:
            return True
        if not place:
            return False
        place = place.rpartition("node_modules/")[0].rstrip("/")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_package_that_one_requires_is_locked(folder: Path) -> None:
    """`npm ci` refuses a lock that lacks the packages of other platforms, too."""
    lock = read(folder)
    missing = [
        (place, name)
        for place, package in lock.items()
        for kind in ("dependencies", "optionalDependencies")
        for name in package.get(kind, {})
        if not resolve(lock, name, place)
    ]
    assert not missing


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_packages_are_locked_by_their_content_and_not_by_a_host(folder: Path) -> None:
    for place, package in read(folder).items():
        assert "resolved" not in package
        assert not place or package["integrity"].startswith("sha512-"), place
