"""Questions in other languages: openCypher, and what is believed about a subject."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from gateway.cli.answers import Answer
from gateway.cli.kernel import parse_json
from gateway.cli.ports import Port, Record
from gateway.cli.props import read_properties
from gateway.cli.usage import Asked
from ugs.errors import InvalidJSON, InvalidSyntax

STANDARD_INPUT = "-"


async def cypher(asked: Asked, port: Port) -> Answer:
    """Ask a query that reads; `-` takes it from standard input, `name=text` or `name:=json` is its `$name`."""
    query = read_text(asked.words["query"])
    given = read_properties(asked.rest)
    if given.appended or given.removed:
        raise InvalidSyntax("parameters are name=text or name:=json")
    found = await port.cypher(query, given.changed)
    return Answer("table", {key: found[key] for key in ("columns", "rows")}, found)


def read_text(word: str) -> str:
    """The word itself, or standard input where it is `-`."""
    return sys.stdin.read() if word == STANDARD_INPUT else word


def read_json(word: str, what: str) -> Any:
    """The JSON that a word or standard input says."""
    try:
        return parse_json(read_text(word))
    except InvalidJSON as error:
        raise InvalidJSON(f"{what}: {error.message}") from error


async def facts(asked: Asked, port: Port) -> Answer:
    """What holds about a subject now, or with --as-of at a time; --all shows what has ended, too."""
    moment = read_moment(asked.options["as-of"], "--as-of") if "as-of" in asked.options else datetime.now(UTC)
    found = [_timed(fact) for fact in await port.facts(asked.words["subject"])]
    kept = [fact for fact in found if asked.flag("all") or _holds(fact, moment)]
    return Answer("rows", [_written(fact) for fact in kept])


def read_moment(text: str, what: str) -> datetime:
    """The moment that a text says, with its zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidSyntax(f"{what}: {text[:40]!r} is not a time such as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise InvalidSyntax(f"{what}: {text!r} names no zone: add Z or an offset such as +02:00")
    return moment


def _timed(fact: Record) -> Record:
    ends = {name: fact[name] and datetime.fromisoformat(fact[name]) for name in ("valid_from", "valid_to")}
    return {**fact, **ends}


def _holds(fact: Record, moment: datetime) -> bool:
    return bool(fact["valid_from"] <= moment and (fact["valid_to"] is None or moment < fact["valid_to"]))


def _written(fact: Record) -> Record:
    ends = {name: fact[name] and fact[name].isoformat().replace("+00:00", "Z") for name in ("valid_from", "valid_to")}
    return {**fact, **ends}
