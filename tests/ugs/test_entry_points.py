"""Entry points read from their files are those that Python's own reader finds."""

import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ugs.support.entry_points import declared, declared_as, load

GROUPS = ("ugs.backends", "ugs.embedders", "console_scripts", "pytest11")


def by_python(group: str) -> dict[str, str]:
    """The same, asked of importlib.metadata."""
    return {entry.name: entry.value for entry in reversed(tuple(entry_points(group=group)))}


def package(folder: Path, name: str, declaration: str) -> None:
    """A package in a folder."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(declaration)


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_installed_here(group: str) -> None:
    found = declared(group)
    assert found.keys() == by_python(group).keys()
    if group.startswith("ugs"):
        assert found == by_python(group)
        assert found == {name: declared_as(group, name) for name in found}
    assert declared_as(group, "nobody") is None


def test_the_first_on_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "one", "ours", "[other]\nfile = wrong:one\n\n[ugs.backends]\n# a word\nfile = mine:open\n")
    package(tmp_path / "two", "Ours", "[ugs.backends]\nlost = twice:there\n")
    package(tmp_path / "two", "theirs", "[ugs.backends]\nfile = late:open\nnew=theirs:open.it [extra]\n")
    for name in ("two", "one"):
        monkeypatch.syspath_prepend(str(tmp_path / name))
    found = declared("ugs.backends")
    assert (found["file"], found["new"], "lost" in found) == ("mine:open", "theirs:open.it", False)
    assert found == {name: declared_as("ugs.backends", name) for name in found}
    assert found.keys() == by_python("ugs.backends").keys()


def test_packages_in_archives_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n")
        archive.writestr("packed-1.0.dist-info/entry_points.txt", "[ugs.backends]\npacked = packed:open\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    assert declared("ugs.backends")["packed"] == "packed:open" == declared_as("ugs.backends", "packed")


def test_what_an_entry_point_names_is_loaded() -> None:
    assert load("sys:version_info.major") == sys.version_info.major
    assert load("sys") is sys
    with pytest.raises(ModuleNotFoundError):
        load("nobody_has_this:open")
