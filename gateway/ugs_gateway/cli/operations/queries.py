"""Questions in other languages: openCypher, and what is believed about a subject."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from ugs.errors import InvalidJSON, InvalidSyntax
from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.input.property_arguments import parse_properties
from ugs_gateway.cli.lazy_imports import parse_json
from ugs_gateway.cli.output.results import Answer

STANDARD_INPUT = "-"


async def cypher(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Ask a query that reads; `-` takes it from standard input, `name=text` or `name:=json` is its `$name`."""
    query = read_text(arguments.words["query"])
    given = parse_properties(arguments.rest)
    if given.appended or given.removed:
        raise InvalidSyntax("parameters are name=text or name:=json")
    found = await client.cypher(query, given.changed)
    cut = {
        "code": "TRUNCATED",
        "message": f"there are more than these {len(found['rows'])} rows: go on with SKIP and LIMIT",
    }
    truncated = bool(found.get("truncated"))
    warnings = (*found.pop("notifications", ()), *((cut,) if truncated else ()))
    told = {key: found[key] for key in ("columns", "rows")}
    return Answer("table", {**told, "truncated": True} if truncated else told, found, warnings)


def read_text(word: str) -> str:
    """The argument itself, or standard input if it is `-`."""
    return sys.stdin.read() if word == STANDARD_INPUT else word


def read_json(word: str, what: str) -> Any:
    """Parse the JSON of an argument or of standard input."""
    try:
        return parse_json(read_text(word))
    except InvalidJSON as error:
        raise InvalidJSON(f"{what}: {error.message}") from error


async def facts(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """What holds about a subject now, or with --as-of at a time; --all shows what has ended, too."""
    moment = parse_moment(arguments.options["as-of"], "--as-of") if "as-of" in arguments.options else datetime.now(UTC)
    found = await client.facts(arguments.words["subject"], moment.astimezone(UTC).isoformat().replace("+00:00", "Z"))
    held = [(fact.pop("holds"), format_ends(fact)) for fact in found]
    return Answer("rows", [fact for holds, fact in held if holds or arguments.flag("all")])


def parse_moment(text: str, what: str) -> datetime:
    """Parse a time with its zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidSyntax(f"{what}: {text[:40]!r} is not a time such as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise InvalidSyntax(f"{what}: {text!r} names no zone: add Z or an offset such as +02:00")
    return moment


def format_ends(fact: Record) -> Record:
    """A fact whose times are written alike, whoever gave them."""
    ends = {name: fact[name] and datetime.fromisoformat(fact[name]) for name in ("valid_from", "valid_to")}
    return {**fact, **{name: end and end.isoformat().replace("+00:00", "Z") for name, end in ends.items()}}
