"""Cases published by other projects: read in place, never kept here.

`UGS_OUTSIDE_DATA` names their folder; without it they are looked for beside the project. They are optional: without
them the run says in one line what was not run. `UGS_REQUIRE_OUTSIDE=1` makes their absence a failure.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ugs.values import from_text

PROJECT = Path(__file__).resolve().parents[3]
BESIDE = PROJECT.parent / "shared" / "fixtures" / "outside"


def folder() -> Path:
    return Path(os.environ.get("UGS_OUTSIDE_DATA") or BESIDE)


def find_cases(name: str) -> Any | None:
    """The cases of a file, or None when it is not at hand."""
    path = folder() / f"{name}.json"
    return from_text(path.read_bytes()) if path.is_file() else None


def cases_or_skip(name: str) -> Any:
    """The cases of a file; skips the test where they are not at hand and not required."""
    cases = find_cases(name)
    if cases is not None:
        return cases
    words = f"{name}.json is not in {folder()}: set UGS_OUTSIDE_DATA to the folder that has it"
    if is_required():
        pytest.fail(words, pytrace=False)
    pytest.skip(words)


def is_required() -> bool:
    """Whether the absence of cases from outside is a failure."""
    return os.environ.get("UGS_REQUIRE_OUTSIDE", "").lower() in ("true", "1")
