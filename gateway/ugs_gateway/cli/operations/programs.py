"""Programs of seed 002 on the command line: check, run, keep and list them."""

from __future__ import annotations

from typing import Any

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.input.property_arguments import parse_properties
from ugs_gateway.cli.lazy_imports import parse_json
from ugs_gateway.cli.operations.import_file import open_text
from ugs_gateway.cli.output.results import Answer

ACTIONS = ("validate", "run", "save", "list")
MAX_LISTED = 100


async def program(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Validate, run, save or list programs.

    A program is a file (JSON, or text in the language of programs), `-` for standard input, or for `run` the number of
    a stored one. Parameters follow as name=text or name:=json. Exit code 1 when it is not valid, or when it stopped.
    """
    action = parse_choice(arguments.words["action"], ACTIONS, "action")
    if action == "list":
        return Answer("rows", await client.programs(arguments.options.get("search"), MAX_LISTED))
    if "program" not in arguments.words:
        raise InvalidSyntax(f"program {action} needs a file, - or a number")
    given = read_program(arguments.words["program"])
    if action == "validate":
        found = await client.validate_program(given)
        return Answer("validation", found, code=0 if found["valid"] else 1)
    if action == "save":
        return Answer("success", await client.save_program(given, arguments.options.get("name")))
    return _run_result(await client.run_program(given, parse_properties(arguments.rest).changed))


def read_program(word: str) -> Any:
    """The program of an argument: a number, or the JSON of a file."""
    if word.isascii() and word.isdigit() and len(word) < 10:
        return int(word)
    from ugs.programs.text.parser import parse_text

    with open_text(word) as file:
        text = file.read()
        return parse_json(text) if text.lstrip().startswith("{") else parse_text(text).program


def _run_result(result: Record) -> Answer:
    return Answer("program", result, code=0 if result.get("aborted") is None else 1)
