"""The mutants themselves: each changes exactly one place, and the result is still a module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.__main__ import (
    EQUIVALENT,
    PROJECT,
    START_SECONDS,
    TARGETS,
    Target,
    choose,
    shown_by_code,
    time_limit,
)
from tests.mutants.mutations import mutations_of

SAMPLE = """
def allowed(age: int, name: str | None) -> bool:
    if age < 18 and name is not None:
        return False
    return not name == "x"
"""


def test_every_kind_of_fault_is_found(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    file.write_text(SAMPLE)

    found = {(one.line, one.old.strip(), one.new.strip()) for one in mutations_of(file, "sample.py")}

    assert found == {
        (3, "<", "<="),
        (3, "and", "or"),
        (3, "is not", "is"),
        (4, "False", "True"),
        (5, "not", ""),
        (5, "==", "!="),
    }


def test_a_mutant_is_a_module_that_differs_in_one_line() -> None:
    for _, mutation in choose(list(TARGETS), 70, seed=3):
        text = (PROJECT / mutation.path).read_text(encoding="utf-8")
        changed = mutation.apply(text)
        ast.parse(changed)
        pairs = zip(text.splitlines(), changed.splitlines(), strict=True)
        assert sum(before != after for before, after in pairs) == 1


def test_every_equivalent_mutant_is_still_one() -> None:
    """A line that has changed has to be thought about again."""
    shown = {
        shown_by_code(one)
        for file in {PROJECT / known.partition(":")[0] for known in EQUIVALENT}
        for one in mutations_of(file, file.relative_to(PROJECT).as_posix())
    }
    assert EQUIVALENT.keys() <= shown


def test_every_feature_has_its_share() -> None:
    chosen = choose(list(TARGETS), 140, seed=1)

    assert {name for name, _ in chosen} == set(TARGETS)
    assert len(chosen) > 100


def test_the_tests_of_every_feature_are_there() -> None:
    named = {
        name for target in TARGETS.values() for name in target.tests if name.startswith(("tests/", "conformance/"))
    }
    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []


def test_tests_that_fail_without_a_fault_prove_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text("def test_sample() -> None:\n    assert WORKS\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TARGETS, "sample", Target("ugs", ("test_sample.py",)))
        assert time_limit(tmp_path, "sample") is None
        (tmp_path / "test_sample.py").write_text("def test_sample() -> None:\n    assert True\n")
        assert (time_limit(tmp_path, "sample") or 0) > START_SECONDS
