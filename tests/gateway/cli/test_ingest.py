"""Notes from a file: facts come out, a mistake names its line, and an interruption costs nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs_gateway.cli.clients.local import LocalClient
from ugs_gateway.cli.operations import ingestion


def note(text: str, subject: str, predicate: str, object: dict[str, Any], **more: Any) -> str:
    relation = {"subject": subject, "predicate": predicate, "object": object, **more}
    entities = [{"canonical": subject, "kind": "person", "aliases": []}]
    return json.dumps({"text": text, "source": "mail", "structured": {"entities": entities, "relations": [relation]}})


JOB = note("Ann works at Initech", "Ann", "works at", {"value": "Initech"}, valid_from="2026-01-01T00:00:00Z")
FRIEND = note("Ann knows Bob", "Ann", "knows", {"entity": "Bob"}, valid_to="2999-01-01T00:00:00+02:00")


@pytest.mark.clause("FACT-1", "FACT-80", "FACT-81")
def test_the_notes_of_a_file_become_facts_and_say_nothing_new_when_they_come_again(ugs: Ugs) -> None:
    Path("notes.ndjson").write_text(f"\ufeff{JOB}\r\n\r\n{FRIEND}\n{JOB}")
    assert ugs("ingest", "notes.ndjson").value == {"file": "notes.ndjson", "notes": 3, "facts": 2, "created": 2}
    told = {fact["predicate"]: (fact["object"], fact["valid_from"]) for fact in ugs("facts", "ann").value}
    assert told["works at"] == ("Initech", "2026-01-01T00:00:00Z") and told["knows"][0] == "Bob"
    again = ugs("ingest", "-", stdin=Path("notes.ndjson").read_text("utf-8-sig"))
    assert (again.value["notes"], again.value["created"]) == (3, 0)
    assert ugs("ingest", "-", "--scope", "org", stdin=JOB).value["created"] == 1


@pytest.mark.parametrize(
    ("line", "code", "why"),
    [
        ("{oops", "E006", "line 2: not valid JSON"),
        ("[1]", "REJECT_STRUCTURED_INVALID", "line 2: note"),
        ('{"txt": "x"}', "REJECT_STRUCTURED_INVALID", "line 2: note"),
        (JOB.replace('"Ann", "predicate"', '7, "predicate"'), "REJECT_STRUCTURED_INVALID", "relations[0].subject"),
        (JOB.replace("2026-01-01T00:00:00Z", "soon"), "REJECT_STRUCTURED_INVALID", "relations[0].valid_from"),
        (JOB.replace('"text": "Ann', '"text": "She'), "REJECT_STRUCTURED_INVALID", "line 2: structured.relations[0]"),
        (JOB.replace('"value"', '"entity": "Ann", "value"'), "REJECT_STRUCTURED_INVALID", "relations[0].object"),
    ],
)
def test_a_mistake_names_its_line_and_nothing_of_its_lot_is_kept(ugs: Ugs, line: str, code: str, why: str) -> None:
    Path("notes.ndjson").write_text(f"{FRIEND}\n{line}\n")
    done = ugs("ingest", "notes.ndjson")
    assert (done.code, done.value["error"]["code"]) == (1, code), done
    assert why in done.value["error"]["message"], done
    assert "line 2" in done.value["error"]["message"], done
    assert not Path("data").exists()


def test_what_the_note_does_not_say_is_believed_only_when_told_so(ugs: Ugs) -> None:
    assert ugs("ingest", "-", stdin=JOB.replace('"text": "Ann', '"text": "She')).code == 1
    assert ugs("ingest", "-", "--unsupported", stdin=JOB.replace('"text": "Ann', '"text": "She')).value["created"] == 1


def test_an_interrupted_ingestion_goes_on_where_it_stopped(ugs: Ugs, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [note(f"Ann met P{n}", "Ann", "met", {"value": f"P{n}"}) for n in range(5)]
    Path("notes.ndjson").write_text("\n".join(lines))
    monkeypatch.setattr(ingestion, "MAX_NOTES", 2)
    real, calls = LocalClient.ingest, 0

    async def breaks(port: LocalClient, *given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        done = await real(port, *given, **named)
        if calls == 2:
            # The lot is kept, but nobody hears of it.
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(LocalClient, "ingest", breaks)
    assert ugs("ingest", "notes.ndjson").code == 130
    again = ugs("ingest", "notes.ndjson")
    assert "going on after 2 notes" in again.err
    assert again.value == {"file": "notes.ndjson", "notes": 5, "facts": 5, "created": 5}
    assert len(ugs("facts", "Ann").value) == 5
