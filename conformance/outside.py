"""Cases published elsewhere: read where they lie, never kept here.

`UGS_OUTSIDE_DATA` names their folder. Without it they are looked for beside the project.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ugs.values import from_text

PROJECT = Path(__file__).resolve().parents[1]
BESIDE = PROJECT.parent / "shared" / "fixtures" / "outside"


def folder() -> Path:
    return Path(os.environ.get("UGS_OUTSIDE_DATA") or BESIDE)


def find_cases(name: str) -> Any | None:
    """The cases of a file, or None when it is not at hand."""
    path = folder() / f"{name}.json"
    return from_text(path.read_bytes()) if path.is_file() else None


def cases_or_skip(name: str) -> Any:
    """The cases of a file; where they must be there (the project's own CI), their absence is a failure."""
    cases = find_cases(name)
    if cases is not None:
        return cases
    words = f"{name}.json is not in {folder()}: set UGS_OUTSIDE_DATA to the folder that has it"
    if os.environ.get("CI", "").lower() in ("true", "1") and (PROJECT / "pyproject.toml").is_file():
        pytest.fail(words, pytrace=False)
    pytest.skip(words)
