"""Backups: the log as a file, and beside it what proves that the file is whole and a restored store is the same."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
from msgspec import Struct

import ugs
from ugs.errors import DigestMismatch, InvalidSyntax, PositionNotFound, StorageIOError
from ugs.support.atomic_file import replace
from ugs.values import to_text
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.input.target import parse_place
from ugs_gateway.cli.operations.export_file import position_of
from ugs_gateway.cli.operations.import_file import open_bytes
from ugs_gateway.cli.operations.log_transfer import partial_log_file, replay_file, store_of, write_log
from ugs_gateway.cli.operations.queries import STANDARD_INPUT
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import say

if TYPE_CHECKING:
    from ugs.events import Event

MANIFEST = ".json"
MAX_MANIFEST_BYTES = 65_536
TRIES = 5
"""How often the digest is taken again because somebody wrote meanwhile."""


class Manifest(Struct, frozen=True):
    """What is known of a backup."""

    events: int
    sha256: str
    """Of the file."""
    digest: str | None
    """Of the state behind the last event; None if changes came too quickly to take it."""
    made: str
    version: str


async def backup(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Write the whole history to a file while the store or gateway goes on serving.

    Beside it stands FILE.json with the number of events, the hash of the file and the digest of the state, which
    `restore` compares. The file is replaced when the new one is complete; one that was interrupted goes on where it
    stopped: start it again.
    """
    file = arguments.words["file"]
    if file == STANDARD_INPUT:
        raise InvalidSyntax("a backup is two files, so it needs a name; `export - --format log` writes to a pipe")
    with partial_log_file(file) as out:
        events, digest = await _write_until_quiet(client, out)
        os.fsync(out.fileno())
        manifest = Manifest(events, _hash_of(out), digest, datetime.now(UTC).isoformat("T", "seconds"), ugs.__version__)
        with suppress(FileNotFoundError):
            os.unlink(file + MANIFEST)  # between two backups there is none, rather than that of the other
    _write_manifest(file, manifest)
    return Answer("success", {"file": file, **msgspec.to_builtins(manifest)})


async def _write_until_quiet(client: GraphClient, out: BinaryIO) -> tuple[int, str | None]:
    """The number of events written, and the digest of the state behind exactly these."""
    for _ in range(TRIES):
        events = await write_log(client, out)
        digest = await client.digest()
        if await position_of(client) == events:
            return events, digest
        out.seek(0)
    say("warning: changes came all the time, so the backup has no digest of its state")
    return events, None


def _hash_of(file: BinaryIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _write_manifest(file: str, manifest: Manifest) -> None:
    part = Path(f"{file}{MANIFEST}.part")
    try:
        part.touch(mode=0o600)
        part.write_text(to_text(msgspec.to_builtins(manifest)) + "\n", "utf-8")
        replace(part, file + MANIFEST)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}{MANIFEST}: {error.strerror}", path=file + MANIFEST) from error


async def restore(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Read a backup into an empty store, as a whole or up to a position or time.

    The file is checked against FILE.json before anything is written, and the digest of the restored state against that
    of the backup. A restore that was interrupted goes on where it stopped: start it again.
    """
    file, until = arguments.words["file"], arguments.options.get("until")
    system = store_of(client)
    wanted = None if until is None else Limit(until)
    with open_bytes(file) as lines:
        if not lines.seekable():
            raise InvalidSyntax("a backup is read twice, so it must be a file and not a pipe")
        manifest = _check(file, lines)
        if wanted is not None:
            await wanted.check(lines)
        lines.seek(0)
        done = await replay_file(file, lines, system, wanted or (lambda event: True))
    if wanted is None and manifest is not None and manifest.digest not in (None, done["digest"]):
        raise DigestMismatch(
            f"{file} was read whole, but the state has the digest {done['digest']} and not {manifest.digest} as when "
            f"the backup was made, by version {manifest.version}; restore it with that one to compare.",
            position=done["events"],
        )
    return Answer("success", {"file": file, **done, "checked": manifest is not None})


def _check(file: str, lines: BinaryIO) -> Manifest | None:
    """The manifest of a file that is what it says; None without one."""
    try:
        with open(file + MANIFEST, "rb") as opened:
            manifest = msgspec.json.decode(opened.read(MAX_MANIFEST_BYTES), type=Manifest)
    except FileNotFoundError:
        say(f"warning: {file}{MANIFEST} is missing, so only the checksums in the lines are checked")
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StorageIOError(f"Cannot read {file}{MANIFEST}: {error}", path=file + MANIFEST) from error
    if _hash_of(lines) != manifest.sha256:
        raise DigestMismatch(
            f"{file} is not what the backup wrote: its hash is not the one in {file}{MANIFEST}",
            position=manifest.events,
        )
    return manifest


class Limit:
    """Where a restore ends."""

    def __init__(self, until: str) -> None:
        place = parse_place(until, "--until")
        self.position = place if isinstance(place, int) else None
        self.instant = None if isinstance(place, int) else int(place.timestamp() * 1_000)

    def __call__(self, event: Event) -> bool:
        if self.position is not None:
            return event.position <= self.position
        return self.instant is not None and event.timestamp <= self.instant

    async def check(self, lines: BinaryIO) -> None:
        """Refuse a position that the file does not have, or a time before its first event."""
        lines.seek(0)
        if self.position is not None:
            end = sum(1 for _ in lines)
            if not 0 < self.position <= end:
                raise PositionNotFound(
                    f"the backup has positions 1 to {end}, not {self.position}", position=self.position, end=end
                )
        else:
            first: dict[str, Any] = msgspec.json.decode(lines.readline() or b"{}")
            if self.instant is not None and first.get("timestamp", self.instant) > self.instant:
                raise PositionNotFound("the backup begins after that time", position=0)
