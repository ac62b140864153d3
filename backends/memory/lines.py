"""Lines of the log file: sealed ones, foreign ones, and how each becomes an event.

A sealed line carries the checksum of itself continued from the line before. Lines without `seq` and `crc` come from
elsewhere and are taken as they are; a byte order mark before and carriage returns behind them are overlooked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, reduce
from operator import or_
from typing import Any, ClassVar, cast

import msgspec
from msgspec import Raw, Struct

from ugs.catalog import Catalog
from ugs.events import Event, Idem, SealedEvents, Tx, from_line, to_line

BOM = b"\xef\xbb\xbf"
MALFORMED = (msgspec.MsgspecError, UnicodeError, RecursionError)


class Sealed(Struct, gc=False, kw_only=True):
    """An event straight from a sealed line: reads like an `Event`, with its data still undecoded.

    One call of the decoder makes it, which is what makes replay fast.
    """

    id: str
    timestamp: int
    data: Raw
    position: int = msgspec.field(name="seq")
    version: int | None = msgspec.field(name="ver", default=None)
    tx: Tx | None = None
    idem: Idem | None = None
    by: str | None = None

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = msgspec.json.decode(self.data)
        return payload


def _about(catalog: Catalog) -> type[Sealed]:
    """Sealed events whose element is looked up only when somebody asks."""
    element_of = catalog.rules.element_of

    class About(Sealed, gc=False, kw_only=True):
        @property
        def element(self) -> str | None:
            return element_of(self.type, self.payload)  # type: ignore[attr-defined]

    return About


@cache
def sealed_decoder(catalog: Catalog) -> Callable[[bytes], Event]:
    """Decodes sealed lines of any type."""
    return cast(Callable[[bytes], Event], msgspec.json.Decoder(_sealed_kind(catalog)).decode)


def _sealed_kind(catalog: Catalog) -> type[Struct]:
    return msgspec.defstruct("SealedEvent", [("type", str)], bases=(_about(catalog),), gc=False, kw_only=True)


class Stored(Struct, gc=False, kw_only=True):
    """A sealed line of a type that has a quick way: what that takes."""

    timestamp: int
    position: int = msgspec.field(name="seq")
    version: int = msgspec.field(name="ver")
    tx: Tx | None = None
    idem: Idem | None = None
    type: ClassVar[str]


def known_events(catalog: Catalog, lines: Sequence[bytes]) -> list[Any]:
    """The events of sealed lines, with decoded data where there is a quick way; up to the first that is none."""
    one, many = known_decoders(catalog)
    with suppress(*MALFORMED):
        events: list[Any] = many(b"[%s]" % b",".join(lines))
        if len(events) == len(lines):
            return events
    events, any_type = [], sealed_decoder(catalog)
    with suppress(*MALFORMED):
        for line in lines:
            try:
                events.append(one(line))
            except MALFORMED:  # something unusual in it, which is not for the quick way
                events.append(any_type(line))
    return events


@cache
def known_decoders(catalog: Catalog) -> tuple[Callable[[bytes], Any], Callable[[bytes], Any]]:
    """Decoders of one line, and of an array of lines."""
    about, storing = _about(catalog), catalog.rules.storing
    kinds = []
    for name in sorted(catalog.rules.types):
        base: type[Struct] = Stored if name in storing else about
        fields: list[Any] = [("data", storing[name].data)] if name in storing else []
        kinds.append(_tagged(name, base, fields))
    kind: Any = reduce(or_, kinds) if kinds else _sealed_kind(catalog)
    return msgspec.json.Decoder(kind).decode, msgspec.json.Decoder(list[kind]).decode


def _tagged(name: str, base: type[Struct], fields: list[Any]) -> type[Struct]:
    """What lines of one type are decoded to."""
    own = {"type": name}
    return msgspec.defstruct(
        name, fields, bases=(base,), tag=name, tag_field="type", namespace=own, gc=False, kw_only=True
    )


def foreign_event(line: bytes, position: int, catalog: Catalog) -> Event | None:
    """The event of an unsealed line, or None when it is not one."""
    try:
        event = from_line(line.removeprefix(BOM) if position == 1 else line, position, catalog.rules.element_of)
        # Every line of ours has both: one without a checksum has lost it.
        return event if event.crc is None and not _has_seq(line) else None
    except MALFORMED:
        return None


class _Placed(Struct):
    seq: Any = None


_decode_placed = msgspec.json.Decoder(_Placed).decode


def _has_seq(line: bytes) -> bool:
    return _decode_placed(line.removeprefix(BOM)).seq is not None


def whole_lines(events: Sequence[Event]) -> list[bytes]:
    """The lines of events, newlines included."""
    if isinstance(events, SealedEvents):
        return [line + b"\n" for line in events.lines]
    return [line_of(event) for event in events]


def line_of(event: Event) -> bytes:
    """The line of an event, newline included; unsealed ones (copied from elsewhere) are written as they came."""
    line = to_line(event)
    if event.crc is None:
        fields = msgspec.json.decode(line, type=dict[str, Raw])
        del fields["seq"]
        line = msgspec.json.encode(fields)
    return line + b"\n"
