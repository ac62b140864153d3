"""Programs of seed 002 on the command line: check, run, keep and list them."""

from __future__ import annotations

from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.kernel import parse_json
from gateway.cli.operations.importing import opened_text
from gateway.cli.ports import Port, Record
from gateway.cli.props import read_properties
from gateway.cli.usage import Asked, one_of
from ugs.errors import InvalidSyntax

ACTIONS = ("validate", "run", "save", "list")
MOST_LISTED = 100


async def program(asked: Asked, port: Port) -> Answer:
    """Validate, run, save or list programs.

    A program is a file (JSON, or text in the language of programs), `-` for standard input, or for `run` the number of
    a stored one. Parameters follow as name=text or name:=json. Exit code 1 when it is not valid, or when it stopped.
    """
    action = one_of(asked.words["action"], ACTIONS, "action")
    if action == "list":
        return Answer("rows", await port.programs(asked.options.get("search"), MOST_LISTED))
    if "program" not in asked.words:
        raise InvalidSyntax(f"program {action} needs a file, - or a number")
    given = read_program(asked.words["program"])
    if action == "validate":
        found = await port.validate_program(given)
        return Answer("success", found, code=0 if found["valid"] else 1)
    if action == "save":
        return Answer("success", await port.save_program(given, asked.options.get("name")))
    return _ran(await port.run_program(given, read_properties(asked.rest).changed))


def read_program(word: str) -> Any:
    """The program that a word means: a number, or the JSON of a file."""
    if word.isascii() and word.isdigit() and len(word) < 10:
        return int(word)
    with opened_text(word) as file:
        text = file.read()
    if text.lstrip().startswith("{"):
        return parse_json(text)
    from ugs.programs.text.reading import parse_text

    return parse_text(text).program


def _ran(result: Record) -> Answer:
    return Answer("program", result, code=0 if result.get("aborted") is None else 1)
