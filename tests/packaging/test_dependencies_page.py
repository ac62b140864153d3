"""docs/dependencies.md: a reason for every dependency, and no line for one that has gone."""

import re

from tests.packaging.test_lock import declared
from tests.servers.places import PROJECT

PAGE = (PROJECT / "docs" / "dependencies.md").read_text()
REASONS = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \|$", PAGE, re.MULTILINE))


def test_every_dependency_has_a_reason() -> None:
    assert declared() - set(REASONS) == set()


def test_no_reason_is_left_for_what_has_gone() -> None:
    assert set(REASONS) - declared() == set()


def test_a_reason_is_a_sentence() -> None:
    assert all(len(reason.split()) >= 3 for reason in REASONS.values())
