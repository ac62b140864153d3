"""API keys: made once, shown once, kept only as hashes in a file.

A key is 32 random bytes, so a plain SHA-256 is enough to keep it: there is nothing to guess. The file is JSON lines,
one key each, readable by its owner only.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

import msgspec
from msgspec import Struct

from ugs.errors import InvalidSyntax, StorageIOError
from ugs.identity import ROLES, Principal

PREFIX = "ugs_"


class StoredToken(Struct, frozen=True, omit_defaults=True):
    """A key as the file keeps it."""

    hash: str
    user: str
    roles: tuple[str, ...]
    tenant: str = "default"
    project: str = "default"
    agent: str = "default"

    @property
    def principal(self) -> Principal:
        return Principal(self.user, frozenset(self.roles), self.tenant, self.project, self.agent)


def token_hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def read_tokens(path: Path) -> dict[str, Principal]:
    """Who is behind each hash, or E005 that names the broken line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise StorageIOError(f"The token file {path} cannot be read: {error.strerror}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            stored = _decode(line, path, number)
            found[stored.hash] = stored.principal
    return found


def _decode(line: bytes, path: Path, number: int) -> StoredToken:
    try:
        stored = msgspec.json.decode(line, type=StoredToken)
    except msgspec.DecodeError as error:
        raise InvalidSyntax(f"{path} line {number} is not a key made by `ugs token create`: {error}") from error
    unknown = set(stored.roles) - set(ROLES)
    if unknown:
        raise InvalidSyntax(f"{path} line {number} has unknown roles: {', '.join(sorted(unknown))}")
    return stored


def create_token(path: Path, stored: StoredToken) -> str:
    """Make a key, append its hash to the file, and answer the key itself, which nobody can see again."""
    token = PREFIX + token_urlsafe(32)
    line = msgspec.json.encode(msgspec.structs.replace(stored, hash=token_hash(token))) + b"\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageIOError(f"The token file {path} cannot be written: {error.strerror}") from error
    return token
