"""The start check: a foreign package under one of our names is found before it is imported."""

import sys
from pathlib import Path

import pytest

from gateway.neighbours import ForeignPackage, check_neighbours


def test_our_own_packages_pass() -> None:
    check_neighbours()


def test_a_foreign_package_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "foreign_schema"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ForeignPackage) as refused:
        check_neighbours(("foreign_schema",))
    assert str(tmp_path) in str(refused.value)
    assert "environment of its own" in str(refused.value)


def test_a_missing_package_is_told() -> None:
    with pytest.raises(ForeignPackage, match="is missing"):
        check_neighbours(("no_such_package_here",))
