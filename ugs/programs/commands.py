"""Commands that store programs. Each decision validates the program, so no invalid program is ever stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, UnsetType

from ugs.errors import Forbidden, InvalidSyntax
from ugs.events import Draft, Event
from ugs.feature import Audience, Command, Decision
from ugs.graph.model import COUNTERS
from ugs.identity import Principal
from ugs.programs.ast import GraphProgram, ProgramMetadata
from ugs.programs.errors import ProgramInvalid, ProgramNotFound, access_denied
from ugs.programs.model import COUNTER, DEFINITION_TYPE, PROGRAMS, ProgramRow, digest_of
from ugs.programs.validation.limits import BOUNDS, Bounds
from ugs.storage import Session
from ugs.unit_of_work import UnitOfWork
from ugs.values import FORBIDDEN_TEXT, MAX_INT, to_text

ADMIN = "admin"
UNTITLED = "Untitled program"
MAX_NAME_CHARS = 200


class Caller(Struct, frozen=True):
    """Identity and rights of the principal, as far as ownership of programs needs them."""

    user: str
    is_admin: bool

    @classmethod
    def of(cls, principal: Principal) -> Caller:
        return cls(principal.account, ADMIN in principal.roles)

    def owns(self, row: ProgramRow) -> bool:
        """Whether the caller may change the program."""
        return self.is_owner(row.owner_id)

    def is_owner(self, owner: object) -> bool:
        """Whether the caller may change what belongs to this owner."""
        return self.is_admin or owner == self.user

    def sees(self, row: ProgramRow) -> bool:
        """Whether the caller may read and execute the program."""
        return row.owner_id is None or self.owns(row)


class SaveProgram(Command, frozen=True):
    """Validate a program and store it."""

    program: Any
    caller: Caller
    name: str | None = None
    system: bool = False
    """Store it as the system's own, visible to everybody; needs the admin role."""
    bounds: Bounds = BOUNDS


class UpdateProgram(Command, frozen=True):
    """Replace the definition, the name, or both of a stored program."""

    id: int
    caller: Caller
    program: Any = None
    name: str | None = None
    bounds: Bounds = BOUNDS


class DeleteProgram(Command, frozen=True):
    """Delete a stored program."""

    id: int
    caller: Caller


async def save(command: SaveProgram, uow: UnitOfWork) -> Decision:
    """Validate a new program and decide its number."""
    if command.system and not command.caller.is_admin:
        raise Forbidden("Programs of the system are made by administrators")
    program = parse_valid(command.program, command.bounds)
    name = choose_name(command.name, program)
    counter = await uow.find(COUNTERS, COUNTER)
    id = 1 if counter is None else counter.value + 1
    owner = None if command.system else command.caller.user
    data = to_payload(id, name, with_metadata(program, uow.now), owner, uow.now, uow.now)
    return Decision([Draft("ProgramStored", None, data)])


async def update(command: UpdateProgram, uow: UnitOfWork) -> Decision:
    """Decide the new state of a stored program; the whole is validated again."""
    row = await get_owned(uow, command.id, command.caller)
    program = parse_valid(row.definition if command.program is None else command.program, command.bounds)
    name = choose_name(command.name or row.name, program)
    data = to_payload(row.id, name, with_metadata(program, row.created_at), row.owner_id, row.created_at, uow.now)
    return Decision([Draft("ProgramUpdated", None, data)])


async def delete(command: DeleteProgram, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a program; refused unless the caller owns it."""
    row = await get_owned(uow, command.id, command.caller)
    return Decision([Draft("ProgramDeleted", None, {"id": row.id, "owner_id": row.owner_id})])


def parse_valid(raw: object, bounds: Bounds) -> GraphProgram:
    """The parsed program; refused with PROGRAM_INVALID and all issues."""
    # The validator brings the whole query engine along, which a store that only opens does not need.
    from ugs.programs.validation.validator import decode_and_validate

    program, result = decode_and_validate(raw, bounds)
    if program is None:
        raise ProgramInvalid(result)
    return program


def choose_name(given: str | None, program: GraphProgram) -> str:
    """The name of the request, else of the metadata, else a default."""
    own = None if isinstance(program.metadata, UnsetType) else program.metadata.name
    name = given if given is not None else own or UNTITLED
    if not 1 <= len(name) <= MAX_NAME_CHARS or FORBIDDEN_TEXT.search(name):
        raise InvalidSyntax(f"A program's name is text of 1 to {MAX_NAME_CHARS} characters", name=name[:80])
    return name


def with_metadata(program: GraphProgram, now: int) -> GraphProgram:
    """The program with metadata that has at least the time of creation."""
    metadata = ProgramMetadata() if isinstance(program.metadata, UnsetType) else program.metadata
    if metadata.created is None:
        moment = datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        metadata = msgspec.structs.replace(metadata, created=moment)
    return msgspec.structs.replace(program, metadata=metadata)


def to_payload(
    id: int, name: str, program: GraphProgram, owner: str | None, created: int, updated: int
) -> dict[str, Any]:
    """A program as event data, with all fields."""
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


async def get_stored(source: UnitOfWork | Session, id: int) -> ProgramRow:
    """The stored program with this number; refused if there is none."""
    row: ProgramRow | None = await source.find(PROGRAMS, id) if 0 < id <= MAX_INT else None
    if row is None:
        raise ProgramNotFound(id)
    return row


async def get_owned(uow: UnitOfWork, id: int, caller: Caller) -> ProgramRow:
    """The stored program, if the caller may change it."""
    row = await get_stored(uow, id)
    if not caller.owns(row):
        raise access_denied(id)
    return row


async def audiences_of(session: Session, events: Sequence[Event]) -> list[Audience]:
    """Who may see events about programs: those who can see the program, or could before it was deleted."""
    return [_audience_of(event) for event in events]


def _audience_of(event: Event) -> Audience:
    data = event.payload
    # Logs of earlier versions do not tell whose program was deleted; then it is whoever did it.
    owner = data.get("owner_id", event.by)
    is_open = "owner_id" in data and owner is None
    return lambda principal: is_open or Caller.of(principal).is_owner(owner)


DECIDERS: Mapping[type[Command], Any] = {SaveProgram: save, UpdateProgram: update, DeleteProgram: delete}
