"""Commands about notes, the source texts that facts are traced to."""

from __future__ import annotations

from collections.abc import Mapping

from ugs.events import Draft
from ugs.facts.access import agent_key
from ugs.facts.errors import InvalidFact, NoteExists
from ugs.facts.events import new_draft
from ugs.facts.model import EVIDENCE, NOTES, SUPERSESSIONS, Note
from ugs.facts.normalization import Space, display_name, is_uuid, new_id, validate_id, validate_note, validate_space
from ugs.facts.resolution import get_note
from ugs.facts.temporal.instants import start_of
from ugs.feature import Command, Decider, Decision
from ugs.reads.filters import eq
from ugs.unit_of_work import UnitOfWork


class AddNote(Command, frozen=True):
    """Add a note. With a known id it must be the same note, and nothing is added."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    text: str
    source: str | None = None
    note_id: str | None = None


class DeleteNote(Command, frozen=True):
    """Delete a note, its evidence and the supersessions it caused; facts stay."""

    note_id: str
    space: Space | None = None


async def add_note(command: AddNote, uow: UnitOfWork) -> Decision:
    """Decide the addition of a note."""
    await ensure_note(uow, command)
    return Decision([])


async def ensure_note(uow: UnitOfWork, command: AddNote) -> Note:
    """The note, staged as new unless its id is known with the same text."""
    space = validate_space(command.tenant_id, command.project_id)
    text = validate_note(command.text)
    if command.note_id is not None:
        known = await _find_known_note(uow, command.note_id, space, text, command.agent_id)
        if known is not None:
            return known
    note = Note(
        note_id=command.note_id or new_id(),
        tenant_id=space.tenant,
        project_id=space.project,
        agent_id=validate_id(command.agent_id, "agentId"),
        scope=validate_id(command.scope, "scope"),
        text=text,
        source=None if command.source is None else display_name(command.source, "source"),
        created_at=start_of(uow.now),
    )
    await uow.stage([new_draft(uow, NOTES, note)])
    return note


async def _find_known_note(uow: UnitOfWork, note_id: str, space: Space, text: str, agent: str) -> Note | None:
    if not is_uuid(note_id):
        raise InvalidFact("a note id is a UUID", field="noteId")
    found: Note | None = await uow.find(NOTES, note_id)
    if found is None:
        return None
    is_same = (found.text, found.tenant_id, found.project_id) == (text, space.tenant, space.project)
    if not is_same or agent_key(found.scope, found.agent_id) not in ("", agent):
        raise NoteExists(note_id)
    return found


async def delete_note(command: DeleteNote, uow: UnitOfWork) -> Decision:
    """Decide the deletion of a note."""
    note = await get_note(uow, command.note_id, command.space)
    where = eq("note_id", note.note_id)
    stated = [row.fact_id for row in await uow.fetch(EVIDENCE, where)]
    ended = [row.from_fact_id for row in await uow.fetch(SUPERSESSIONS, where)]
    await uow.stage(
        Draft("EvidenceRemoved", id, {"fact_id": id, "note_id": note.note_id}) for id in sorted({*stated, *ended})
    )
    return Decision([Draft("NoteDeleted", note.note_id, {"note_id": note.note_id})])


DECIDERS: Mapping[type[Command], Decider] = {AddNote: add_note, DeleteNote: delete_note}
