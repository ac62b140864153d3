"""Translates errors of SQLite to errors of the kernel."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from ugs.errors import Conflict, OutcomeUnknown, StorageIOError, UgsError, Unavailable, UniqueViolation

_NAMED_RULE = re.compile(r"UNIQUE constraint failed: index '(.+)'")
_COLUMNS = re.compile(r"UNIQUE constraint failed: (\w+)\.")


def translate_error(error: sqlite3.Error, path: Path, *, committing: bool = False) -> UgsError:
    """The kernel error for a driver error, with a message that tells the operator what to do."""
    name = getattr(error, "sqlite_errorname", None) or ""
    if isinstance(error, sqlite3.IntegrityError):
        return _build_constraint_error(error, path)
    if committing and name.startswith("SQLITE_IOERR"):
        return OutcomeUnknown(
            f"The disk failed while {path} was being committed: the change may or may not be stored. "
            "Read before trying again, or retry with the same idempotency key.",
            file=str(path),
        )
    for prefix, words in _WORDS.items():
        if name.startswith(prefix):
            make, text = words
            return make(text.format(path=path), file=str(path), reason=str(error))
    return StorageIOError(f"SQLite could not use {path}: {error}", file=str(path), reason=str(error))


def _build_constraint_error(error: sqlite3.IntegrityError, path: Path) -> UgsError:
    text = str(error)
    named = _NAMED_RULE.search(text)
    if named:
        return UniqueViolation(named[1].replace("''", "'"))
    table = _COLUMNS.search(text)
    if table:
        return UniqueViolation(f"{table[1]}_key")
    return StorageIOError(f"{path} refused the change: {text}", file=str(path), reason=text)


_WORDS: dict[str, tuple[type[UgsError], str]] = {
    "SQLITE_BUSY": (
        Unavailable,
        "{path} is locked by another process that has been writing for several seconds. Try again, "
        "or find out which program holds the file open.",
    ),
    "SQLITE_LOCKED": (Conflict, "Another statement is using {path}. Try again."),
    "SQLITE_FULL": (
        StorageIOError,
        "The disk is full: {path} could not grow. Nothing was changed. Free some space and try again.",
    ),
    "SQLITE_READONLY": (
        StorageIOError,
        "{path} is read-only. Nothing was changed. Give this user the right to write the file and its folder.",
    ),
    "SQLITE_NOTADB": (
        StorageIOError,
        "{path} is not an SQLite database (or it is encrypted). Name another file; this one was left as it is.",
    ),
    "SQLITE_CORRUPT": (
        StorageIOError,
        "{path} is damaged. Stop writing to it, keep a copy, and restore a backup or copy what is readable "
        "with sqlite3's .recover.",
    ),
    "SQLITE_CANTOPEN": (
        StorageIOError,
        "{path} cannot be opened. Check that its folder exists and that this user may read and write it.",
    ),
    "SQLITE_PERM": (StorageIOError, "This user may not use {path}. Check the rights of the file and its folder."),
    "SQLITE_INTERRUPT": (Conflict, "The statement on {path} was interrupted. Try again."),
    "SQLITE_IOERR": (
        StorageIOError,
        "The disk failed while {path} was used. Nothing was changed. Check the disk and the system log.",
    ),
    "SQLITE_NOMEM": (StorageIOError, "There was not enough memory to use {path}."),
    "SQLITE_TOOBIG": (StorageIOError, "A value is too large for {path}. Nothing was changed."),
}
