"""The lock of the web packages names everything that any machine needs, and no place to fetch it from."""

import json
from typing import Any

from tests.servers.places import PROJECT

LOCK: dict[str, dict[str, Any]] = json.loads((PROJECT / "web" / "package-lock.json").read_text())["packages"]


def resolve(name: str, place: str) -> bool:
    """Whether a package that is required at a place of the tree has an entry, there or above."""
    while True:
        if f"{place}{'/' if place else ''}node_modules/{name}" in LOCK:
            return True
        if not place:
            return False
        place = place.rpartition("node_modules/")[0].rstrip("/")


def test_every_package_that_one_requires_is_locked() -> None:
    """`npm ci` refuses a lock that lacks the packages of other platforms, too."""
    missing = [
        (place, name)
        for place, package in LOCK.items()
        for kind in ("dependencies", "optionalDependencies")
        for name in package.get(kind, {})
        if not resolve(name, place)
    ]
    assert not missing


def test_packages_are_locked_by_their_content_and_not_by_a_host() -> None:
    for place, package in LOCK.items():
        assert "resolved" not in package
        assert not place or package["integrity"].startswith("sha512-"), place
