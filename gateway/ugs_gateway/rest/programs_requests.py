"""Bodies and query parameters of the program endpoints, checked for shape."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request

from ugs.errors import InvalidSyntax
from ugs.log.at import At
from ugs.programs.api import DeckEntry
from ugs.support.shape_errors import describe_shape_error
from ugs_gateway.graphql.request import RequestRejected

NUMBER_LENGTH = 18
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Params = dict[str, str | int | float]
View = Literal["GRAPH", "FACTS", "ALL"]
Body = TypeVar("Body", bound=Struct)


class Validation(Struct, frozen=True):
    """A body to validate: any JSON; the validator reports whether it is a program."""

    program: Any


class Submission(Struct, frozen=True):
    """A program to validate or to store."""

    program: dict[str, Any]
    name: Name | None = None
    system: bool = False


class Change(Struct, frozen=True):
    """New content or name of a stored program."""

    program: dict[str, Any] | None = None
    name: Name | None = None


class Entry(Struct, frozen=True):
    """A program of a deck."""

    program_id: int | None = None
    program: dict[str, Any] | None = None
    params: Params | None = None

    def to_deck_entry(self) -> DeckEntry:
        if (self.program is None) == (self.program_id is None):
            raise wrong_shape("Give either program or program_id, and not both")
        return DeckEntry(self.program_id, self.program, self.params or {})


class Moment(Struct, frozen=True):
    """A point in time for reads: a log position or an instant."""

    position: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    instant: datetime | None = None

    def place(self) -> At:
        if (self.position is None) == (self.instant is None):
            raise wrong_shape("at names either a position or an instant")
        if self.instant is None:
            return At(position=self.position)
        if self.instant.tzinfo is None:
            raise wrong_shape("The instant names no zone: add Z or an offset such as +02:00")
        return At.time(self.instant)


class ExecutionRequest(Struct, frozen=True):
    """One program or a deck to run."""

    program: dict[str, Any] | None = None
    program_id: int | None = None
    params: Params | None = None
    deck: list[Entry] | None = None
    view: View = "GRAPH"
    at: Moment | None = None

    @property
    def moment(self) -> At | None:
        return None if self.at is None else self.at.place()

    def single(self) -> DeckEntry:
        return Entry(self.program_id, self.program, self.params).to_deck_entry()

    def entries(self) -> list[DeckEntry] | None:
        """The deck, if one is given; rejected together with a single program."""
        if self.deck is None:
            return None
        if self.program is not None or self.program_id is not None or self.params is not None:
            raise wrong_shape("A deck stands alone: its entries name the programs and their params")
        return [entry.to_deck_entry() for entry in self.deck]

    def check_deck(self, max_programs: int) -> None:
        """Reject an empty or too long deck before its programs are read."""
        if self.deck is not None and not 1 <= len(self.deck) <= max_programs:
            raise wrong_shape(f"A deck has 1 to {max_programs} programs, got {len(self.deck)}")

    @property
    def has_own_text(self) -> bool:
        """Whether the request contains program text instead of the id of a stored program."""
        return self.program is not None or any(entry.program is not None for entry in self.deck or ())


def wrong_shape(message: str) -> RequestRejected:
    return RequestRejected(422, InvalidSyntax(message))


def to_shape(found: object, kind: type[Body]) -> Body:
    """Convert the body to its type, or reject it with 422."""
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise wrong_shape(describe_shape_error(error)) from error


def number_in(request: Request) -> int:
    """The program's id in the path; one with too many digits becomes 0, which no program has."""
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal()):
        raise wrong_shape(f"A program's number has digits only, got {text[:40]!r}")
    return int(text) if len(text) <= NUMBER_LENGTH else 0


def limit_in(query: Mapping[str, str], default: int = 20, max_limit: int = 100) -> int:
    text = query.get("limit", str(default))
    if not (text.isascii() and text.isdecimal() and len(text) <= NUMBER_LENGTH and 1 <= int(text) <= max_limit):
        raise wrong_shape(f"limit is a number from 1 to {max_limit}, got {text[:40]!r}")
    return int(text)
