"""Files in the folder of a store, and the checksums that protect them.

Every line of the log ends with a checksum chained from the line before; a snapshot ends with the checksum of everything
before it.
"""

from __future__ import annotations

from zlib import crc32

LOG, SNAPSHOT, LOCK = "events.wal", "snapshot.json", "lock"
ACKNOWLEDGED = LOG + ".acknowledged"
"""Damage of the log that an operator has acknowledged."""
REPAIR = LOG + ".repair"
"""A repair of the log in progress."""

# ── lines of the log ─────────────────────────────────────────────────────────

SEAL_START = b',"crc":"'
SEAL = b',"crc":"%08x"}\n'
"""The end of a sealed line: its checksum, a brace and the newline."""
END = len(SEAL % 0)


def chain_checksum(line: bytes, previous: int) -> int:
    """The checksum a sealed line (with its newline) must carry."""
    return crc32(b"}", crc32(line[:-END], previous))


def is_sealed(line: bytes, crc: int) -> bool:
    """Whether a line (with its newline) ends with exactly this checksum."""
    return line[-END:] == SEAL % crc


def has_seal(line: bytes) -> bool:
    """Whether a line (with its newline) looks sealed."""
    return line[-END : -END + len(SEAL_START)] == SEAL_START


def read_checksum(line: bytes) -> int:
    """The checksum at the end of a sealed line (with its newline)."""
    return int(line[-END + len(SEAL_START) : -3], 16)


# ── snapshots ────────────────────────────────────────────────────────────────

FORMAT = 1
CHECKSUM = b',\n"checksum":"sha256:%s"}\n'
CHECKSUM_LENGTH = len(CHECKSUM % (b"0" * 64))


def is_whole(data: bytes) -> bool:
    """Whether the text of a snapshot ends with the checksum of all before it."""
    from hashlib import sha256

    end = len(data) - CHECKSUM_LENGTH
    return end >= 0 and data[end:] == CHECKSUM % sha256(memoryview(data)[:end]).hexdigest().encode()
