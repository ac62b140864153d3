"""Facts and entities put right on the command line, on a store here and on a gateway there."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ran, Ugs
from tests.gateway.cli.test_ingest import JOB, note
from tests.gateway.processes import serving
from ugs import System
from ugs.facts.api import Facts

NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture(params=["store", "gateway"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The options that lead to an empty store, here or behind a gateway."""
    if request.param == "store":
        yield []
        return
    with serving(tmp_path_factory.mktemp("there"), "--store", "memory:") as running:
        yield ["--url", running.url]


@pytest.fixture
def here(ugs: Ugs, place: list[str]) -> Ugs:
    def run(*words: str, **more: Any) -> Ran:
        return ugs(*words, *place, **more)

    return run


def keep(run: Ugs, *lines: str) -> None:
    assert run("ingest", "-", stdin="\n".join(lines)).code == 0


def about(run: Ugs, subject: str, *words: str) -> list[dict[str, Any]]:
    return list(run("facts", subject, *words).value)


def test_a_fact_is_ended_replaced_and_retracted_with_a_reason(here: Ugs) -> None:
    keep(here, JOB)
    (job,) = about(here, "Ann")
    done = here("correct", job["id"], "replace", "--value", "Globex", "--reason", "new job").value
    assert (done["before"]["object"], done["before"]["valid_to"]) == ("Initech", done["fact"]["valid_from"])
    assert (done["fact"]["object"], done["fact"]["valid_to"], done["reopened"]) == ("Globex", None, [])
    assert [fact["object"] for fact in about(here, "Ann")] == ["Globex"]

    new = done["fact"]["id"]
    ended = here("correct", new, "end", "--reason", "left", "--when", "2999-03-01T00:00:00+01:00").value
    assert (ended["fact"], ended["before"]["valid_to"]) == (None, "2999-02-28T23:00:00Z")
    gone = here("correct", new, "retract", "--reason", "a rumour").value
    assert gone == {"fact": None, "before": None, "reopened": []} and about(here, "Ann") == []


@pytest.mark.parametrize(("words", "left"), [([], ["Initech"]), (["--leave-ended"], [])])
def test_what_a_fact_had_ended_holds_again_unless_told(ugs: Ugs, words: list[str], left: list[str]) -> None:
    asyncio.run(register_single("works at"))
    keep(ugs, JOB)
    keep(ugs, JOB.replace("Initech", "Globex").replace("2026-01-01", "2026-02-01"))
    (new,) = about(ugs, "Ann")
    done = ugs("correct", new["id"], "retract", "--reason", "a rumour", *words).value
    assert [fact["object"] for fact in done["reopened"]] == left
    assert [fact["object"] for fact in about(ugs, "Ann")] == left


async def register_single(predicate: str) -> None:
    async with System.at_url("file:./data") as system:
        await Facts(system).register_predicate(predicate, status="active", cardinality="single")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["end"], "E005"),
        (["end", "--reason", "x", "--value", "y"], "E005"),
        (["replace", "--reason", "x"], "E005"),
        (["end", "--reason", "x", "--leave-ended"], "E005"),
        (["end", "--reason", "x", "--when", "2026-01-01"], "E005"),
        (["doubt", "--reason", "x"], "E005"),
        (["end", "--reason", "x"], "FACT_NOT_FOUND"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(ugs: Ugs, words: list[str], code: str) -> None:
    keep(ugs, JOB)
    done = ugs("correct", NOBODY, *words)
    assert done.code != 0 and done.value["error"]["code"] == code, done
    assert len(about(ugs, "Ann")) == 1


def test_entities_are_merged_unmerged_and_kept_apart(here: Ugs) -> None:
    keep(here, JOB.replace("Ann", "Annika"), note("Annica knows Bob", "Annica", "knows", {"entity": "Bob"}))
    (pair,) = here("entity", "duplicates").value
    assert {pair["first"]["name"], pair["second"]["name"]} == {"Annika", "Annica"}
    ids = {pair[side]["name"]: pair[side]["id"] for side in ("first", "second")}

    plan = here("entity", "merge", "Annika", "Annica", "--preview").value
    assert (plan["id"], plan["moved"], plan["folded"], plan["conflicts"]) == (ids["Annika"], 1, 0, 0)
    assert len(about(here, "Annika")) == 1

    merged = here("entity", "merge", "annika", ids["Annica"]).value
    assert merged == {"id": ids["Annika"], "name": "Annika", "merged": ids["Annica"]}
    assert len(about(here, "Annica")) == 2

    assert here("entity", "unmerge", ids["Annica"]).value == {"id": ids["Annica"], "name": "Annica"}
    assert [fact["object"] for fact in about(here, "Annica")] == ["Bob"]

    assert here("entity", "apart", "Annica", "Annika").value == {"apart": [ids["Annica"], ids["Annika"]]}
    assert here("entity", "duplicates").value == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["merge", "Ann"], "E005"),
        (["duplicates", "Ann"], "E005"),
        (["apart", "Ann", "Bob", "--preview"], "E005"),
        (["marry", "Ann", "Bob"], "E005"),
        (["merge", "Ann", "Zoe"], "ENTITY_NOT_FOUND"),
        (["merge", "Ann", NOBODY], "ENTITY_NOT_FOUND"),
        (["unmerge", "Ann"], "INVALID_FACT"),
    ],
)
def test_what_cannot_be_done_to_entities_is_refused(here: Ugs, words: list[str], code: str) -> None:
    keep(here, JOB)
    done = here("entity", *words)
    assert done.code != 0 and done.value["error"]["code"] == code, done


def test_what_is_proposed_is_no_fact_before_it_is_approved(ugs: Ugs) -> None:
    Path("notes.ndjson").write_text(JOB)
    assert ugs("ingest", "notes.ndjson", "--propose").value == {"file": "notes.ndjson", "notes": 1, "proposals": 1}
    assert ugs("facts", "Ann").value["error"]["code"] == "ENTITY_NOT_FOUND"
    (proposal,) = ugs("proposals", "list").value
    assert ugs("proposals", "approve", proposal["id"]).code == 0
    assert [fact["object"] for fact in about(ugs, "Ann")] == ["Initech"]


def test_proposals_go_to_a_gateway_and_refuse_other_formats(here: Ugs) -> None:
    assert here("ingest", "-", "--propose", stdin=JOB).value["proposals"] == 1
    assert [row["subject"] for row in here("proposals", "list").value] == ["Ann"]
    Path("memory.json").write_text(json.dumps({"type": "entity", "name": "Ann"}))
    done = here("ingest", "memory.json", "--format", "mcp-memory", "--propose")
    assert done.value["error"]["code"] == "E005"
