"""What is asked of the program door: bodies and queries, checked for shape before anything else looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request

from gateway.asked import Refused
from ugs.errors import InvalidSyntax
from ugs.moments import At
from ugs.programs.api import DeckEntry

NUMBER_LENGTH = 18
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Params = dict[str, str | int | float]
View = Literal["GRAPH", "FACTS", "ALL"]
Body = TypeVar("Body", bound=Struct)


class Submission(Struct, frozen=True):
    """A program to validate or to store."""

    program: dict[str, Any]
    name: Name | None = None
    system: bool = False


class Change(Struct, frozen=True):
    """What a stored program becomes."""

    program: dict[str, Any] | None = None
    name: Name | None = None


class Entry(Struct, frozen=True):
    """A program of a deck."""

    program_id: int | None = None
    program: dict[str, Any] | None = None
    params: Params | None = None

    def checked(self) -> DeckEntry:
        if (self.program is None) == (self.program_id is None):
            raise wrong_shape("Give either program or program_id, and not both")
        return DeckEntry(self.program_id, self.program, self.params or {})


class Moment(Struct, frozen=True):
    """A place in time: after so many events, or at an instant."""

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


class Execution(Struct, frozen=True):
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
        return Entry(self.program_id, self.program, self.params).checked()

    def entries(self) -> list[DeckEntry] | None:
        """The deck, when one is given; it stands alone."""
        if self.deck is None:
            return None
        if self.program is not None or self.program_id is not None or self.params is not None:
            raise wrong_shape("A deck stands alone: its entries name the programs and their params")
        return [entry.checked() for entry in self.deck]

    @property
    def brings_its_own(self) -> bool:
        """Whether a program comes with the request instead of being named."""
        return self.program is not None or any(entry.program is not None for entry in self.deck or ())


def wrong_shape(message: str) -> Refused:
    return Refused(422, InvalidSyntax(message))


def shaped(found: object, kind: type[Body]) -> Body:
    """The body as what it should be."""
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise wrong_shape(str(error)) from error


def number_in(request: Request) -> int:
    """The program's number in the address; one too long to be any program's is as good as unknown."""
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal()):
        raise wrong_shape(f"A program's number has digits only, got {text[:40]!r}")
    return int(text) if len(text) <= NUMBER_LENGTH else 0


def limit_in(query: Mapping[str, str], default: int = 20, most: int = 100) -> int:
    text = query.get("limit", str(default))
    if not (text.isascii() and text.isdecimal() and len(text) <= NUMBER_LENGTH and 1 <= int(text) <= most):
        raise wrong_shape(f"limit is a number from 1 to {most}, got {text[:40]!r}")
    return int(text)
