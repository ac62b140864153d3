"""Every documented option of every command is called once, and does not fail."""

import asyncio
import json
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs import System
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.proposals.api import Proposals
from ugs_gateway.cli.command_table import COMMANDS
from ugs_gateway.cli.input.arguments import parse_usage
from ugs_gateway.cli.main import main

NOTE = {
    "text": "Alice mentors Bob",
    "structured": {"relations": [{"subject": "Alice", "predicate": "mentors", "object": {"entity": "Bob"}}]},
}
PROGRAM = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (c) RETURN c"}}]}

CALLS = [
    "add-node x note k=v --data {}",
    "get alice --all",
    "update alice --type human --data [1] --expected-version 1",
    "update e1 --weight 2.5",
    "search login --mode hybrid --type task --scope default --near alice --limit 3",
    "neighbors bob incoming --type reports_to",
    "traverse alice --depth 2 --direction both --strategy dfs --type assigned_to",
    "ingest notes.ndjson --format notes --scope agent_private --unsupported",
    "recall Alice --budget 100 --limit 3 --as-of 2030-01-31T12:00:00Z --scope project_shared --kind fact",
    "facts Alice --as-of 2030-01-31T12:00:00Z --all",
    "ingest notes.ndjson --propose",
    "correct FACT replace --value Rome --reason moved --when 2030-01-31T12:00:00Z",
    "correct FACT retract --reason never --leave-ended",
    "correct OTHER replace --object Bob --reason married",
    "entity merge Ann Anna --preview",
    "proposals list --state pending",
    "proposals edit PROPOSAL --subject Ann --predicate was --value old",
    "proposals edit PROPOSAL --object Bob",
    "proposals reject PROPOSAL --reason no",
    "program save p.json --name people",
    "program list --search people",
    "clear-scope default --force",
    "load-demo --force",
    "history 3 --element alice",
    "diff 0 3 --element alice",
    "undo 15 --transaction --key k1 --preview",
    "undo 15 --after --preview",
    "watch --after 0 --count 1",
    "export g.json --format json --scope default",
    "import g.json --format json --on-conflict skip --prefix p_",
    "backup g.wal",
    "restore g.wal --until 3 --store file:second",
    "key add k --role writer --user u --tenant t --project p --agent a1 --expires 2099-01-31T12:00:00Z",
    "webhook add https://x.example --name n --filter {} --after 0 --user u --project p --agent a1",
    "token create --user u --role writer --tenant t --project p --agent a1 --file t.jsonl",
    "doctor --repair --acknowledge --store file:./data",
    "doctor --backend file:./data",
    "rebuild --data-dir data",
    "load-demo --store sqlite:///h.db",
    "rebuild --history --store sqlite:///h.db",
    "info --config c.toml",
    "config show --origin",
    "mirror out --ontology default",
]
ONLY_PARSED = {
    "serve": ("it serves until it is stopped", []),
    "health": ("it needs a gateway", []),
    "mcp": ("it serves until it is stopped", []),
    "copy": ("it has none of its own", ["FROM", "TO"]),
}
EVERYWHERE = {"store", "backend", "data-dir", "config", "help"}


async def propose() -> str:
    """A proposed fact, by its id."""
    async with System.at_url("file:./data") as system:
        said = NoteToIngest(text="Ann is old", relations=(Stated("Ann", "is", Object(value="old")),))
        return (await Proposals(system).propose(said)).proposals[0].proposal_id


async def know() -> tuple[str, str]:
    """Two facts about Ann, by their ids; Anna is known, too."""
    async with System.at_url("file:./data") as system:
        facts = Facts(system)
        await facts.upsert_entity("Anna")
        first = await facts.add_fact("Ann", "lives in", "Bern", notes=[NoteRef(text="Ann lives in Bern")])
        other = await facts.add_fact("Ann", "likes", object="Jo", notes=[NoteRef(text="Ann likes Jo")])
        return first.fact.fact_id, other.fact.fact_id


def called(name: str) -> set[str]:
    words = [word for call in CALLS if call.split()[0] == name for word in call.split()]
    return {word[2:] for word in words if word.startswith("--")}


def documented(name: str) -> set[str]:
    entry = next(entry for entry in COMMANDS if entry.name == name)
    if entry.usage:
        return set(parse_usage(entry.usage).options)
    return {
        flag[2:] for action in parser_of(entry.module)._actions for flag in action.option_strings if flag[:2] == "--"
    }


def parser_of(module: str) -> ArgumentParser:
    parser = ArgumentParser()
    import_module(module).arguments(parser)
    return parser


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS if entry.name not in ONLY_PARSED])
def test_no_documented_option_is_left_out(name: str) -> None:
    assert documented(name) - called(name) - EVERYWHERE == set()


def test_every_option_works_as_documented(demo: Ugs) -> None:
    Path("notes.ndjson").write_text(json.dumps(NOTE))
    Path("p.json").write_text(json.dumps(PROGRAM))
    Path("c.toml").write_text('store = "file:./data"')
    proposal = asyncio.run(propose())
    fact, other = asyncio.run(know())
    for call in CALLS:
        done = demo(*call.replace("PROPOSAL", proposal).replace("FACT", fact).replace("OTHER", other).split())
        assert done.code == 0, (call, done)


@pytest.mark.parametrize("name", ONLY_PARSED)
def test_every_option_of_what_serves_is_parsed_with_a_value_of_its_own(name: str) -> None:
    entry = next(entry for entry in COMMANDS if entry.name == name)
    parser = parser_of(entry.module)
    for action in parser._actions:
        for flag in action.option_strings:
            if flag.startswith("--") and flag != "--help":
                value = [] if action.nargs == 0 else [str(next(iter(action.choices or ["7"])))]
                found = parser.parse_args([*ONLY_PARSED[name][1], flag, *value])
                assert getattr(found, action.dest) is not None, flag
    assert main([name, "--help"]) == 0
