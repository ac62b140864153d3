"""Events, the only source of change, and their encoding as lines of the log.

A line is the seed's `{"id","timestamp","type","data"}` with more keys after it: `seq` (position from 1, gapless),
`ver` (the element's version), `tx` (batch), `idem` (idempotency), `by` (principal), and last `crc`: the CRC-32 of the
line up to there, chained from the line before, so that damaged, lost, repeated and swapped lines are detected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import force_setattr

from ugs.values import Json, JsonText, from_text, to_text

GENESIS_CRC = "00000000"
CRC_LENGTH = len(',"crc":"00000000"}')


class Tx(Struct, frozen=True, gc=False):
    """The batch an event belongs to, and its index in it."""

    id: str
    index: int
    size: int


class Idem(Struct, frozen=True, omit_defaults=True, gc=False):
    """The idempotency key of the command behind an event, with a digest of the request."""

    key: str
    hash: str
    size: int = 1
    warnings: tuple[dict[str, str], ...] = ()


class Draft(Struct, frozen=True):
    """An event that has been decided but has no log position yet."""

    type: str
    element: str | None
    data: dict[str, Json]
    """May hold parts that are already canonical JSON text, as `msgspec.Raw`."""
    version: int | None = None


class NewEvents(Struct, frozen=True):
    """The events of a batch of commands that only add elements, before they are sealed."""

    type: str
    """The type of all of them."""
    data: Sequence[JsonText]
    keys: Sequence[str]
    """The element of each."""
    sizes: Sequence[int]
    """How many elements each command adds."""


class Event(Struct, frozen=True, gc=False):
    """An immutable record of one change, at a fixed position in the log."""

    position: int
    id: str
    timestamp: int
    type: str
    data: JsonText
    element: str | None = None
    version: int | None = None
    tx: Tx | None = None
    idem: Idem | None = None
    by: str | None = None
    extra: JsonText | None = None
    """Unknown envelope keys of foreign logs, preserved."""
    crc: str | None = None

    @property
    def payload(self) -> dict[str, Json]:
        """The event's data, decoded."""
        payload: dict[str, Json] = from_text(self.data)
        return payload


class Head(Struct, frozen=True):
    """The end of the log: position, timestamp and checksum of its last event."""

    position: int = 0
    timestamp: int = 0
    crc: str = GENESIS_CRC
    floor: int = 0
    """Lower bound for the timestamps of later events (a snapshot may raise it)."""


EMPTY_LOG = Head()


def event_id(timestamp: int, position: int | str) -> str:
    return f"evt_{timestamp}_{position}"


class _Line(Struct, omit_defaults=True):
    """The JSON structure of a line."""

    id: str
    timestamp: int
    type: str
    data: Raw
    seq: int | UnsetType = UNSET
    ver: int | UnsetType = UNSET
    tx: Tx | UnsetType = UNSET
    idem: Idem | UnsetType = UNSET
    by: str | UnsetType = UNSET
    crc: str | UnsetType = UNSET


KNOWN_KEYS = frozenset(_Line.__struct_fields__)
# Keys of maps are sorted, so that a line is the same whichever store the event has passed through.
_encode = msgspec.json.Encoder(order="deterministic").encode


def _encode_optional(value: Any) -> Any:
    return UNSET if value is None else value


def encode_without_crc(event: Event) -> bytes:
    """The line without its crc: the bytes that the crc covers."""
    if event.idem is None and event.by is None and event.extra is None and _needs_no_quoting(event):
        return (_format_line(event) + "}").encode()
    line = _encode(
        _Line(
            event.id,
            event.timestamp,
            event.type,
            Raw(event.data),
            event.position,
            _encode_optional(event.version),
            _encode_optional(event.tx),
            _encode_optional(event.idem),
            _encode_optional(event.by),
        )
    )
    return line if event.extra is None else line[:-1] + b"," + event.extra[1:].encode()


def _needs_no_quoting(event: Event) -> bool:
    return event.id.isidentifier() and event.type.isidentifier() and (event.tx is None or event.tx.id.isidentifier())


def _format_line(event: Event, by: str = "") -> str:
    """The same line by string formatting, without the closing bracket; a hot path, since every event is encoded."""
    version = "" if event.version is None else f',"ver":{event.version}'
    tx = event.tx
    batch = "" if tx is None else f',"tx":{{"id":"{tx.id}","index":{tx.index},"size":{tx.size}}}'
    return (
        f'{{"id":"{event.id}","timestamp":{event.timestamp},"type":"{event.type}","data":{event.data},'
        f'"seq":{event.position}{version}{batch}{by}'
    )


def line_crc(unsealed: bytes, previous: str) -> str:
    """The chained checksum of a line, eight hexadecimal digits."""
    return f"{crc32(unsealed, int(previous, 16)):08x}"


def seal(event: Event, previous: str) -> Event:
    """The event with its checksum, chained to the line before."""
    return msgspec.structs.replace(event, crc=line_crc(encode_without_crc(event), previous))


class SealedEvents(list[Event]):
    """Events to append, with their encoded lines: the checksum needs them anyway, and a log file reuses them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []

    def seal(self, batch: Sequence[Event], previous: str, by: str | None, idem: Idem | None) -> None:
        """Complete the events of one command in place with batch, author, idempotency key and checksum.

        Mutating the frozen structs is safe, since no other code has seen these events yet.
        """
        first, size, crc = batch[0], len(batch), int(previous, 16)
        usual, told = by is None or by.isidentifier(), "" if by is None else f',"by":"{by}"'
        if idem is not None:
            force_setattr(first, "idem", idem)
        for index, event in enumerate(batch):
            if size > 1:
                force_setattr(event, "tx", Tx(first.id, index, size))
            if by is not None:
                force_setattr(event, "by", by)
            # Ids and types are generated here, so they need no JSON escaping.
            open_line = (
                _format_line(event, told).encode() if usual and event.idem is None else encode_without_crc(event)[:-1]
            )
            crc = crc32(b"}", crc32(open_line, crc))
            force_setattr(event, "crc", f"{crc:08x}")
            self.lines.append(b'%b,"crc":"%08x"}' % (open_line, crc))
        self += batch

    def seal_new(
        self, new: NewEvents, authors: Sequence[str | None], now: int, position: int, previous: str, lead: int = 0
    ) -> list[list[Event]]:
        """Create and seal the events of a batch of commands that only add elements; returns the events per command."""
        crc, commands, elements = int(previous, 16), [], zip(new.keys, new.data, strict=True)
        stamp, kind = event_id(now, ""), f'","timestamp":{now},"type":"{new.type}","data":'
        for size, by in zip(new.sizes, authors, strict=True):
            first, events = "" if size == 1 else event_id(now, position + lead), []
            told = "" if by is None else f',"by":{to_text(by)}'
            for index, (key, data) in enumerate(islice(elements, size)):
                tx = None if size == 1 else Tx(first, index, size)
                batch = "" if tx is None else f',"tx":{{"id":"{first}","index":{index},"size":{size}}}'
                # The same line as `_format_line`, inlined, with the constant parts formatted once per batch.
                id = f"{stamp}{position + lead}"
                line = f'{{"id":"{id}{kind}{data},"seq":{position},"ver":1{batch}{told}'
                crc = crc32(b"}", crc32(line.encode(), crc))
                seal = f"{crc:08x}"
                self.lines.append(f'{line},"crc":"{seal}"}}'.encode())
                events.append(Event(position, id, now, new.type, data, key, 1, tx, None, by, None, seal))
                position += 1
            self += events
            commands.append(events)
        return commands


def to_line(event: Event) -> bytes:
    """The event as its line in a log file, without the newline."""
    line = encode_without_crc(event)
    return line if event.crc is None else line[:-1] + f',"crc":"{event.crc}"}}'.encode()


ElementOf = Callable[[str, Any], str | None]
"""Finds the element an event is about, from its type and decoded data."""

_decode_line = msgspec.json.Decoder(_Line).decode
_decode_any = msgspec.json.Decoder(dict[str, Raw]).decode


def from_line(line: bytes, position: int, element_of: ElementOf) -> Event:
    """Decode a line; a foreign line without `seq` gets the given position."""
    raw = _decode_line(line)
    foreign = raw.crc is UNSET
    payload = from_text(bytes(raw.data))
    if not isinstance(payload, dict):
        raise msgspec.ValidationError("data must be an object")
    return Event(
        position=position if raw.seq is UNSET else raw.seq,
        id=raw.id,
        timestamp=raw.timestamp,
        type=raw.type,
        data=to_text(payload) if foreign else JsonText(bytes(raw.data).decode()),
        element=element_of(raw.type, payload),
        version=_decode_known(raw.ver),
        tx=_decode_known(raw.tx),
        idem=_decode_known(raw.idem),
        by=_decode_known(raw.by),
        extra=_extra_keys(line) if foreign else None,
        crc=_decode_known(raw.crc),
    )


def _decode_known(value: Any) -> Any:
    return None if value is UNSET else value


def _extra_keys(line: bytes) -> JsonText | None:
    extra = {key: from_text(bytes(raw)) for key, raw in _decode_any(line).items() if key not in KNOWN_KEYS}
    return to_text(extra) if extra else None
