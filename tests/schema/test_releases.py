"""Clients of a release keep working: nothing that they may ask for goes away or changes its type.

Each release leaves its schema in `schema/ugs_schema/releases/`; the newest is compared with the schema of today.
"""

from __future__ import annotations

from pathlib import Path

from graphql import build_schema as parsed
from graphql import find_breaking_changes

from ugs_schema import build_schema

RELEASES = Path(__file__).resolve().parents[2] / "schema" / "ugs_schema" / "releases"


def newest() -> Path:
    return max(RELEASES.glob("*.graphql"), key=lambda path: [int(part) for part in path.stem.split(".")])


def test_the_schema_breaks_no_client_of_the_last_release() -> None:
    before, now = parsed(newest().read_text()), parsed(build_schema().as_str())
    assert [change.description for change in find_breaking_changes(before, now)] == []


def test_a_field_that_went_away_would_be_noticed() -> None:
    now = parsed(build_schema().as_str())
    del now.query_type.fields["graphNode"]  # type: ignore[union-attr]
    before = parsed(newest().read_text())
    assert any("graphNode" in change.description for change in find_breaking_changes(before, now))
