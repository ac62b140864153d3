"""API keys in a file: shown once when created, stored only as hashes.

A key has 32 random bytes, so it cannot be guessed and a plain SHA-256 without salt or stretching is enough. The file
has one JSON line per key and is created readable by its owner only.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

import msgspec
from msgspec import Struct

from ugs.errors import InvalidSyntax, StorageIOError
from ugs.identity import ROLES, Principal, login_name
from ugs.support.shape_errors import describe_shape_error

PREFIX = "ugs_"


class StoredToken(Struct, frozen=True, omit_defaults=True):
    """A line of the key file."""

    hash: str
    user: str
    roles: tuple[str, ...]
    tenant: str = "default"
    project: str = "default"
    agent: str = "default"

    @property
    def principal(self) -> Principal:
        return Principal(login_name(self.user), frozenset(self.roles), self.tenant, self.project, self.agent)


def token_hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def read_tokens(path: Path) -> dict[str, Principal]:
    """The principals by key hash; raises E005 naming the first malformed line."""
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


def read_known_tokens(path: Path) -> tuple[dict[str, Principal], list[str]]:
    """The principals by key hash of all valid lines, and what is wrong with the others.

    Used to reload the file while the gateway runs: a malformed or half-written line must neither restore a removed key
    nor disable the other keys. Raises `OSError` if the file cannot be read.
    """
    found, broken = {}, []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            try:
                stored = _decode(line, path, number)
            except InvalidSyntax as error:
                broken.append(error.message)
            else:
                found[stored.hash] = stored.principal
    return found, broken


def _decode(line: bytes, path: Path, number: int) -> StoredToken:
    try:
        stored = msgspec.json.decode(line, type=StoredToken)
    except msgspec.DecodeError as error:
        why = describe_shape_error(error)
        raise InvalidSyntax(f"{path} line {number} is not a key made by `ugs token create`: {why}") from error
    if not all((stored.user, stored.tenant, stored.project, stored.agent)):
        raise InvalidSyntax(f"{path} line {number} leaves user, tenant, project or agent empty")
    unknown = set(stored.roles) - set(ROLES)
    if unknown:
        raise InvalidSyntax(f"{path} line {number} has unknown roles: {', '.join(sorted(unknown))}")
    return stored


def create_token(path: Path, stored: StoredToken) -> str:
    """Create a key, append its hash to the file durably, and return the key, which is not stored anywhere."""
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
