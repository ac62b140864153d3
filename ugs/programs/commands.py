"""Commands that keep programs: each is validated where it is decided, so nothing unchecked is ever stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, UnsetType

from ugs.desk import Desk
from ugs.errors import Forbidden, InvalidSyntax
from ugs.events import Draft
from ugs.feature import Command, Decision
from ugs.graph.model import COUNTERS
from ugs.identity import Principal
from ugs.programs.ast import GraphProgram, ProgramMetadata
from ugs.programs.bounds import BOUNDS, Bounds
from ugs.programs.errors import ProgramInvalid, ProgramNotFound, access_denied
from ugs.programs.model import COUNTER, DEFINITION_TYPE, PROGRAMS, ProgramRow, digest_of
from ugs.storage import Session
from ugs.values import FORBIDDEN_TEXT, MAX_INT, to_text

ADMIN = "admin"
UNTITLED = "Untitled program"
LONGEST_NAME = 200


class Caller(Struct, frozen=True):
    """Who asks, as far as it matters to a program's ownership."""

    user: str
    is_admin: bool

    @classmethod
    def of(cls, principal: Principal) -> Caller:
        return cls(principal.user, ADMIN in principal.roles)

    def owns(self, row: ProgramRow) -> bool:
        """Whether the caller may change the program."""
        return self.is_admin or row.owner_id == self.user

    def sees(self, row: ProgramRow) -> bool:
        """Whether the caller may read and run the program."""
        return row.owner_id is None or self.owns(row)


class SaveProgram(Command, frozen=True):
    """Validate a program and store it."""

    program: Any
    caller: Caller
    name: str | None = None
    system: bool = False
    """Store it as the system's own, for everybody; only administrators may."""
    bounds: Bounds = BOUNDS


class UpdateProgram(Command, frozen=True):
    """Put a new definition, name or both in the place of a stored program's."""

    id: int
    caller: Caller
    program: Any = None
    name: str | None = None
    bounds: Bounds = BOUNDS


class DeleteProgram(Command, frozen=True):
    """Forget a stored program."""

    id: int
    caller: Caller


async def save(command: SaveProgram, desk: Desk) -> Decision:
    """Decide whether a program may be kept, and under which number."""
    if command.system and not command.caller.is_admin:
        raise Forbidden("Programs of the system are made by administrators")
    program = valid(command.program, command.bounds)
    name = chosen_name(command.name, program)
    counter = await desk.find(COUNTERS, COUNTER)
    id = 1 if counter is None else counter.value + 1
    owner = None if command.system else command.caller.user
    data = told(id, name, enriched(program, desk.now), owner, desk.now, desk.now)
    return Decision([Draft("ProgramStored", None, data)])


async def update(command: UpdateProgram, desk: Desk) -> Decision:
    """Decide what a stored program becomes; whatever it becomes is validated again."""
    row = await owned(desk, command.id, command.caller)
    program = valid(row.definition if command.program is None else command.program, command.bounds)
    name = chosen_name(command.name or row.name, program)
    data = told(row.id, name, enriched(program, row.created_at), row.owner_id, row.created_at, desk.now)
    return Decision([Draft("ProgramUpdated", None, data)])


async def delete(command: DeleteProgram, desk: Desk) -> Decision:
    """Decide whether the caller may take a program away."""
    row = await owned(desk, command.id, command.caller)
    return Decision([Draft("ProgramDeleted", None, {"id": row.id})])


def valid(raw: object, bounds: Bounds) -> GraphProgram:
    """The program, or PROGRAM_INVALID with all that is wrong."""
    # The validator brings the whole query engine along, which a store that only opens does not need.
    from ugs.programs.validating import checked

    program, result = checked(raw, bounds)
    if program is None:
        raise ProgramInvalid(result)
    return program


def chosen_name(given: str | None, program: GraphProgram) -> str:
    """The name of the submission, else that of the metadata, else a name for the nameless."""
    own = None if isinstance(program.metadata, UnsetType) else program.metadata.name
    name = given if given is not None else own or UNTITLED
    if not 1 <= len(name) <= LONGEST_NAME or FORBIDDEN_TEXT.search(name):
        raise InvalidSyntax(f"A program's name is text of 1 to {LONGEST_NAME} characters", name=name[:80])
    return name


def enriched(program: GraphProgram, now: int) -> GraphProgram:
    """The program with metadata that says at least when it was first saved."""
    metadata = ProgramMetadata() if isinstance(program.metadata, UnsetType) else program.metadata
    if metadata.created is None:
        moment = datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        metadata = msgspec.structs.replace(metadata, created=moment)
    return msgspec.structs.replace(program, metadata=metadata)


def told(id: int, name: str, program: GraphProgram, owner: str | None, created: int, updated: int) -> dict[str, Any]:
    """A program as an event tells it: whole."""
    definition = program.as_json()
    return {
        "id": id,
        "name": name,
        "definition_type": DEFINITION_TYPE,
        "definition": definition,
        "owner_id": owner,
        "sha256": digest_of(to_text(definition)),
        "created_at": created,
        "updated_at": updated,
    }


async def found(source: Desk | Session, id: int) -> ProgramRow:
    """The program behind a number."""
    row: ProgramRow | None = await source.find(PROGRAMS, id) if 0 < id <= MAX_INT else None
    if row is None:
        raise ProgramNotFound(id)
    return row


async def owned(desk: Desk, id: int, caller: Caller) -> ProgramRow:
    """The program, when the caller may change it."""
    row = await found(desk, id)
    if not caller.owns(row):
        raise access_denied(id)
    return row


DECIDERS: Mapping[type[Command], Any] = {SaveProgram: save, UpdateProgram: update, DeleteProgram: delete}
