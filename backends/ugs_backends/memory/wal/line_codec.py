"""Codec between lines of the log file and events: sealed lines and foreign lines.

A sealed line ends with a checksum chained from the line before. Foreign lines, without `seq` and `crc`, were written by
another program and are accepted as they are; a leading byte order mark and trailing carriage returns are ignored.
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


class SealedEvent(Struct, gc=False, kw_only=True):
    """A decoded sealed line with the interface of an `Event`; `data` stays undecoded.

    A single decoder call creates it, which makes replay fast.
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


def _build_sealed_type(catalog: Catalog) -> type[SealedEvent]:
    """The sealed event type of a catalog, which computes `element` only on access."""
    element_of = catalog.rules.element_of

    class About(SealedEvent, gc=False, kw_only=True):
        @property
        def element(self) -> str | None:
            return element_of(self.type, self.payload)  # type: ignore[attr-defined]

    return About


@cache
def get_sealed_decoder(catalog: Catalog) -> Callable[[bytes], Event]:
    """The decoder of sealed lines of any event type."""
    return cast(Callable[[bytes], Event], msgspec.json.Decoder(_get_sealed_type(catalog)).decode)


def _get_sealed_type(catalog: Catalog) -> type[Struct]:
    return msgspec.defstruct(
        "SealedEvent", [("type", str)], bases=(_build_sealed_type(catalog),), gc=False, kw_only=True
    )


class StoredEvent(Struct, gc=False, kw_only=True):
    """A sealed line whose event type has a bulk rule (`rules.bulk_replay`): only the fields that the rule reads."""

    timestamp: int
    position: int = msgspec.field(name="seq")
    version: int = msgspec.field(name="ver")
    tx: Tx | None = None
    idem: Idem | None = None
    type: ClassVar[str]


def decode_known_events(catalog: Catalog, lines: Sequence[bytes]) -> list[Any]:
    """Decode sealed lines up to the first malformed one, with typed data where the event type has a bulk rule."""
    one, many = get_known_decoders(catalog)
    with suppress(*MALFORMED):
        events: list[Any] = many(b"[%s]" % b",".join(lines))
        if len(events) == len(lines):
            return events
    events, any_type = [], get_sealed_decoder(catalog)
    with suppress(*MALFORMED):
        for line in lines:
            try:
                events.append(one(line))
            except MALFORMED:  # data that the bulk rule's type does not accept
                events.append(any_type(line))
    return events


@cache
def get_known_decoders(catalog: Catalog) -> tuple[Callable[[bytes], Any], Callable[[bytes], Any]]:
    """The decoders of one line, and of a JSON array of lines."""
    about, storing = _build_sealed_type(catalog), catalog.rules.bulk_replay
    kinds = []
    for name in sorted(catalog.rules.types):
        base: type[Struct] = StoredEvent if name in storing else about
        fields: list[Any] = [("data", storing[name].data)] if name in storing else []
        kinds.append(_build_tagged_type(name, base, fields))
    kind: Any = reduce(or_, kinds) if kinds else _get_sealed_type(catalog)
    return msgspec.json.Decoder(kind).decode, msgspec.json.Decoder(list[kind]).decode


def _build_tagged_type(name: str, base: type[Struct], fields: list[Any]) -> type[Struct]:
    """The struct type for lines of one event type, a member of the tagged union."""
    own = {"type": name}
    return msgspec.defstruct(
        name, fields, bases=(base,), tag=name, tag_field="type", namespace=own, gc=False, kw_only=True
    )


def decode_foreign_event(line: bytes, position: int, catalog: Catalog) -> Event | None:
    """Decode an unsealed line; None when it is not an event."""
    try:
        event = from_line(line.removeprefix(BOM) if position == 1 else line, position, catalog.rules.element_of)
        # Lines written by this store have both `seq` and `crc`: one with only `seq` has lost its checksum.
        return event if event.crc is None and not _has_seq(line) else None
    except MALFORMED:
        return None


class _Placed(Struct):
    seq: Any = None


_decode_placed = msgspec.json.Decoder(_Placed).decode


def _has_seq(line: bytes) -> bool:
    return _decode_placed(line.removeprefix(BOM)).seq is not None


def encode_lines(events: Sequence[Event]) -> list[bytes]:
    """Encode events as lines, newlines included."""
    if isinstance(events, SealedEvents):
        return [line + b"\n" for line in events.lines]
    return [encode_line(event) for event in events]


def encode_line(event: Event) -> bytes:
    """Encode one event with its newline; unsealed events (copied from another log) are written without `seq`."""
    line = to_line(event)
    if event.crc is None:
        fields = msgspec.json.decode(line, type=dict[str, Raw])
        del fields["seq"]
        line = msgspec.json.encode(fields)
    return line + b"\n"
