"""`ugs diff` and `ugs undo`, on a store and through a gateway."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs

CHANGES = ["add-node n note", "update alice role=lead", "delete auth_proj"]


def change(ugs: Ugs, *place: str) -> int:
    """Three changes; the position before them."""
    start = ugs("history", "1", *place).value[0]["seq"]
    for line in CHANGES:
        assert ugs(*line.split(), *place).code == 0
    return int(start)


def told(found: list[dict[str, Any]]) -> dict[str, str]:
    return {one["id"]: one["kind"] for one in found}


def test_a_difference_names_elements_fields_and_states(demo: Ugs) -> None:
    start = change(demo)

    found = demo("diff", str(start)).value

    kinds = told(found)
    assert (kinds["n"], kinds["alice"], kinds["auth_proj"]) == ("added", "changed", "removed")
    (alice,) = demo("diff", str(start), "--element", "alice").value
    assert "properties" in alice["fields"] and alice["after"]["properties"]["role"] == "lead"
    assert told(demo("diff", str(start), str(start + 1)).value) == {"n": "added"}


def test_an_undo_is_previewed_and_done(demo: Ugs) -> None:
    start = change(demo)

    plan = demo("undo", str(start), "--after", "--preview").value
    done = demo("undo", str(start), "--after", "--key", "k").value
    again = demo("undo", str(start), "--after", "--key", "k").value

    assert not plan["done"] and told(plan["changes"])["n"] == "removed" and plan["conflicts"] == []
    assert done["done"] and done["events"] and again == done
    assert demo("get", "auth_proj").value["id"] == "auth_proj" and demo("get", "n").value is None
    left = [one for one in demo("diff", str(start)).value if one["fields"] not in (["modified"], ["created"])]
    assert [one for one in left if one["fields"] != ["created", "modified"]] == []


def test_an_undo_says_what_stands_in_the_way(demo: Ugs) -> None:
    demo("update", "alice", "a=1")
    position = str(demo("history", "1").value[0]["seq"])
    demo("update", "alice", "a=2")

    plan = demo("undo", position, "--preview")
    refused = demo("undo", position)

    assert plan.code == 0 and plan.value["conflicts"][0]["id"] == "alice"
    assert refused.code != 0 and refused.value["error"]["code"] == "UNDO_CONFLICT"


@pytest.mark.parametrize(
    "line",
    [
        *("diff", "diff x", "diff 3 2", "diff 999", "diff 2026-01-31T12:00:00", "diff 1 --at 2"),
        *("undo", "undo x", "undo 0", "undo 999", "undo 1 2 --after", "undo 1 --after --transaction", "undo 1 --at 2"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(demo: Ugs, line: str) -> None:
    found = demo(*line.split())

    assert found.code != 0 and found.value["error"]["code"] not in ("UGS", "INTERNAL")
