"""Columns of the types `uuid` and `timestamptz`, which rows hold as texts and as integers of microseconds.

The driver converts them with codecs of ours: its own would give objects whose conversion costs more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from struct import Struct
from typing import Any

from ugs.reads.filters import Op
from ugs.tables import Field, Format
from ugs_backends.sql.compiler.comparison_coercion import (
    NEVER,
    ORDERED,
    CoercedComparison,
    ConstantResult,
    resolve_out_of_range,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
FIRST_INSTANT = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
LAST_INSTANT = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
_YEAR_2000 = (datetime(2000, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
"""PostgreSQL counts microseconds from here."""
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUIDS = re.compile(rf"(?:{UUID.pattern}\n)*")
_INT8 = Struct(">q")
KEPT_INSTANTS = 4_096
"""How many conversions of instants are kept: most rows have several equal ones, and so do the rows of one command."""


async def register_formats(connection: Any) -> None:
    """Register the codecs of both types on a connection."""
    await connection.set_type_codec(
        "uuid", schema="pg_catalog", encoder=encode_uuid, decoder=decode_uuid, format="binary"
    )
    await connection.set_type_codec(
        "timestamptz", schema="pg_catalog", encoder=encode_instant, decoder=decode_instant, format="binary"
    )


def encode_uuid(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def decode_uuid(data: bytes) -> str:
    digits = data.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def encode_instant(instant: int | str) -> bytes:
    """Encode microseconds, or the text that `format_instants` makes of them."""
    if isinstance(instant, str):
        instant = (datetime.fromisoformat(instant) - EPOCH) // MICROSECOND
    return _INT8.pack(instant - _YEAR_2000)


@lru_cache(maxsize=KEPT_INSTANTS)
def decode_instant(data: bytes) -> int:
    instant: int = _INT8.unpack(data)[0] + _YEAR_2000
    return instant


def format_instants(instants: Sequence[int | None]) -> list[str | None]:
    """Instants in ISO 8601."""
    return [None if instant is None else _format_instant(instant) for instant in instants]


@lru_cache(maxsize=KEPT_INSTANTS)
def _format_instant(instant: int) -> str:
    return (EPOCH + instant * MICROSECOND).isoformat()


def are_uuids(texts: Sequence[str]) -> bool:
    """Whether all texts are UUIDs in canonical form."""
    return _UUIDS.fullmatch("\n".join(texts) + "\n") is not None


def coerce_format(field: Field, test: CoercedComparison) -> CoercedComparison | ConstantResult:
    """Coerce a comparison, already coerced to the field's kind, to its format."""
    if field.format is Format.INSTANT:
        inside = FIRST_INSTANT <= test.value <= LAST_INSTANT
        return test if inside else resolve_out_of_range(test.op, test.value > 0)
    return NEVER if test.op is Op.EQ and UUID.fullmatch(test.value) is None else test


def is_exact(field: Field, test: CoercedComparison) -> bool:
    """Whether a coerced comparison can be made in the column's own type.

    UUIDs have the same order as their texts; other texts, and parts of texts, are compared with the text of a UUID.
    """
    if field.format is Format.INSTANT:
        return True
    # `coerce_format` has let through only UUIDs for equality.
    return test.op is Op.EQ or (test.op in ORDERED and UUID.fullmatch(test.value) is not None)
