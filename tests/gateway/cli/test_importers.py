"""Memories of other programs: what can be kept is kept, what cannot is listed, and a second time adds nothing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs.facts.api import Facts
from ugs.facts.importers import IMPORTERS, RefusedRow, SourceNote
from ugs.facts.normalization import MAX_NOTE
from ugs.system import System


def lines(*records: Any) -> str:
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)


MCP_MEMORY = lines(
    {"type": "entity", "name": "Alice", "entityType": "person", "observations": ["prefers green tea", "  "]},
    {"type": "entity", "name": "Initech", "entityType": "company", "observations": []},
    {"type": "relation", "from": "Alice", "to": "Initech", "relationType": "works at"},
    "{oops",
    {"type": "entity"},
    {"type": "fact"},
    {"type": "entity", "name": "Bob", "observations": "text"},
    {"type": "entity", "name": "x" * 1_001, "observations": ["a"]},
    "[1]",
)
MEM0 = json.dumps(
    {
        "results": [{"id": "m1", "memory": "Alice prefers green tea"}, {"id": "m2"}, 7],
        "relations": [{"source": "alice", "relationship": "works_at", "destination": "Initech"}, {"source": "alice"}],
    }
)
GRAPHITI = json.dumps(
    {
        "episodes": [{"uuid": "e1", "content": "Alice: I moved to Rome"}, {"uuid": "e2"}],
        "edges": [
            {
                "uuid": "f1",
                "source": "Alice",
                "target": "Rome",
                "name": "LIVES_IN",
                "fact": "Alice lives in Rome",
                "valid_at": "2026-01-01T00:00:00Z",
                "invalid_at": None,
            },
            {
                "source": "Alice",
                "target": "Bern",
                "name": "LIVES_IN",
                "valid_at": "2020-01-01T00:00:00Z",
                "invalid_at": "2026-01-01T00:00:00Z",
            },
            {"source": "Alice", "target": "Oslo", "name": "LIVES_IN", "valid_at": "soon"},
        ],
    }
)
CLAUDE = json.dumps(
    [
        {
            "uuid": "c1",
            "chat_messages": [
                {"uuid": "1", "sender": "human", "text": "Alice prefers green tea"},
                {"uuid": "2", "sender": "assistant", "text": "Alice hates tea"},
                {"uuid": "3", "sender": "human", "content": [{"type": "text", "text": "She lives in Rome"}]},
                {"uuid": "4", "sender": "human", "text": ""},
            ],
        },
        {"uuid": "c2"},
    ]
)
CHATGPT = json.dumps(
    [
        {
            "id": "g1",
            "mapping": {
                "root": {"message": None},
                "a": {
                    "message": {
                        "id": "a",
                        "author": {"role": "user"},
                        "content": {"parts": ["Alice prefers green tea", {}]},
                    }
                },
                "b": {
                    "message": {"id": "b", "author": {"role": "assistant"}, "content": {"parts": ["Alice hates tea"]}}
                },
                "c": {
                    "message": {"id": "c", "author": {"role": "user"}, "content": {"parts": [{"asset_pointer": "x"}]}}
                },
            },
        },
        "rubbish",
    ]
)
EXPORTS = {
    "mcp-memory": (MCP_MEMORY, 3, 2, 6),
    "mem0": (MEM0, 2, 1, 3),
    "graphiti": (GRAPHITI, 3, 2, 2),
    "claude": (CLAUDE, 2, 0, 1),
    "chatgpt": (CHATGPT, 1, 0, 1),
}


@pytest.mark.parametrize("format", EXPORTS)
def test_an_export_is_kept_found_and_adds_nothing_a_second_time(ugs: Ugs, format: str) -> None:
    text, notes, created, refused = EXPORTS[format]
    Path("export.json").write_text(text)
    done = ugs("ingest", "export.json", "--format", format)
    assert done.code == 0, done
    told = {key: done.value[key] for key in ("notes", "created", "refused")}
    assert told == {"notes": notes, "created": created, "refused": refused}, done
    assert all(one["at"] and one["reason"] for one in done.value["refusals"])
    position = ugs("history").value[-1]["seq"]
    again = ugs("ingest", "export.json", "--format", format)
    assert (again.code, again.value["notes"], again.value["facts"], again.value["refused"]) == (0, 0, 0, refused)
    assert ugs("history").value[-1]["seq"] == position
    found = ugs("recall", "Alice", "tea", "Rome", "Initech")
    assert found.value["items"] and "hates" not in found.out


def test_what_was_corrected_since_is_not_brought_back(ugs: Ugs) -> None:
    Path("memory.json").write_text(MCP_MEMORY)
    ugs("ingest", "memory.json", "--format", "mcp-memory")
    (fact,) = [fact for fact in ugs("facts", "Alice").value if fact["predicate"] == "works at"]
    assert fact["object"] == "Initech"

    async def end() -> None:
        async with System.at_url("file:./data") as system:
            await Facts(system).invalidate_fact(fact["id"], None, "she left")

    asyncio.run(end())
    before = ugs("facts", "Alice", "--all").value
    Path("memory.json").write_text(
        MCP_MEMORY + "\n" + lines({"type": "entity", "name": "Carol", "observations": ["sings"]})
    )
    more = ugs("ingest", "memory.json", "--format", "mcp-memory")
    assert (more.value["notes"], more.value["created"]) == (1, 1)
    assert ugs("facts", "Alice", "--all").value == before


def test_graphiti_edges_keep_the_time_they_held(ugs: Ugs) -> None:
    Path("g.json").write_text(GRAPHITI)
    ugs("ingest", "g.json", "--format", "graphiti")
    told = {fact["object"]: (fact["predicate"], fact.get("valid_to")) for fact in ugs("facts", "Alice", "--all").value}
    assert told == {"Rome": ("lives in", None), "Bern": ("lives in", "2026-01-01T00:00:00Z")}


VAULT: dict[str, str | bytes] = {
    "Alice.md": "---\naliases: [Al, Allie]\nborn: 1990-05-01\nvip: true\ntags: [x]\n---\nKnows [[people/Bob|Bobby]] well.\n\n"
    "## Tea\nPrefers green tea.\n```\n# not a heading\n```\n### Empty\n",
    "people/Bob.md": "Sings. [[Alice#Tea]] [[Bob]]",
    ".obsidian/plugin.md": "hidden",
    "broken.md": b"\xff\xfe\x00",
    "empty.md": "",
    "picture.png": b"\x89PNG",
}


def test_a_folder_of_markdown_is_a_note_a_section(ugs: Ugs) -> None:
    for name, text in VAULT.items():
        path = Path("vault", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    Path("vault/link.md").symlink_to(Path("vault/Alice.md").absolute())
    done = ugs("ingest", "vault", "--format", "markdown")
    assert {key: done.value[key] for key in ("notes", "created", "refused")} == {"notes": 4, "created": 4, "refused": 1}
    assert done.value["refusals"][0]["at"] == "broken.md"
    facts = {(fact["predicate"], fact["object"]) for fact in ugs("facts", "Allie").value}
    assert facts == {("born", "1990-05-01"), ("vip", "true"), ("links to", "Bob")}
    found = ugs("recall", "green", "tea")
    assert "# not a heading" in found.out and "hidden" not in found.out
    assert ugs("ingest", "vault", "--format", "markdown").value["notes"] == 0


def test_long_texts_are_cut_into_notes_at_line_ends(tmp_path: Path) -> None:
    text = "\n".join(["word " * 200] * 250)
    (tmp_path / "m.json").write_text(json.dumps([{"id": "1", "memory": text}]))
    rows = list(IMPORTERS["mem0"](tmp_path / "m.json"))
    assert len(rows) == 3 and all(isinstance(row, SourceNote) and len(row.record["text"]) <= MAX_NOTE for row in rows)
    assert "".join(row.record["text"] for row in rows if isinstance(row, SourceNote)) == text


@pytest.mark.parametrize("format", EXPORTS)
@pytest.mark.parametrize(
    "text", ["", "null", "7", "[]", "{}", '[null, 7, "x", [], {}]', '{"results": {}}', '{"edges": 1}', "[" * 100_000]
)
def test_rubbish_is_refused_in_words(ugs: Ugs, format: str, text: str) -> None:
    Path("export.json").write_text(text)
    done = ugs("ingest", "export.json", "--format", format)
    assert done.code in (0, 1, 4), done
    if done.code == 0:
        assert (done.value["notes"], done.value["refused"]) == (0, done.value["rows"])
    else:
        assert done.value["error"]["code"] in ("E005", "E006"), done
    assert not Path("data/events.wal").exists() or ugs("history").value == []


@pytest.mark.parametrize("words", [("gone.json", "--format", "mem0"), ("gone", "--format", "markdown")])
def test_a_missing_file_is_told(ugs: Ugs, words: tuple[str, ...]) -> None:
    done = ugs("ingest", *words)
    assert done.code != 0 and done.value["error"]["code"] == "E007" and "gone" in done.err
    assert not Path("data").exists()


def test_an_unknown_format_names_those_there_are(ugs: Ugs) -> None:
    Path("x").write_text("[]")
    done = ugs("ingest", "x", "--format", "notion")
    assert done.code == 2 and "mcp-memory" in done.err + done.out


def test_every_row_is_a_note_or_refused(tmp_path: Path) -> None:
    """Whatever stands where a text is expected, an importer goes on with the next row."""
    odd: list[Any] = [None, 7, [], {}, "", " ", "\ud800", "x" * 2_000]
    rows = [{"id": one, "memory": other} for one in odd for other in odd]
    (tmp_path / "m.json").write_text(json.dumps(rows))
    found = list(IMPORTERS["mem0"](tmp_path / "m.json"))
    assert len(found) == len(rows) and any(isinstance(row, RefusedRow) for row in found)
