"""Commands about notes: what was said, kept so that facts can be traced to it."""

from __future__ import annotations

from collections.abc import Mapping

from ugs.desk import Desk
from ugs.events import Draft
from ugs.facts.errors import InvalidFact, NoteExists
from ugs.facts.events import new_draft
from ugs.facts.instants import start_of
from ugs.facts.model import NOTES, Note
from ugs.facts.names import Space, checked_id, checked_note, checked_space, display_name, is_uuid, new_id
from ugs.facts.resolving import get_note
from ugs.feature import Command, Decider, Decision


class AddNote(Command, frozen=True):
    """Keep a note. With an id that is known already, the same note is meant."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    text: str
    source: str | None = None
    note_id: str | None = None


class DeleteNote(Command, frozen=True):
    """Forget a note, its evidence and the supersessions it caused; facts stay."""

    note_id: str
    space: Space | None = None


async def add_note(command: AddNote, desk: Desk) -> Decision:
    """Decide about a new note."""
    await ensure_note(desk, command)
    return Decision([])


async def ensure_note(desk: Desk, command: AddNote) -> Note:
    """The note, made on the desk unless its id is known with the same text."""
    space = checked_space(command.tenant_id, command.project_id)
    text = checked_note(command.text)
    if command.note_id is not None:
        known = await _known(desk, command.note_id, space, text)
        if known is not None:
            return known
    note = Note(
        note_id=command.note_id or new_id(),
        tenant_id=space.tenant,
        project_id=space.project,
        agent_id=checked_id(command.agent_id, "agentId"),
        scope=checked_id(command.scope, "scope"),
        text=text,
        source=None if command.source is None else display_name(command.source, "source"),
        created_at=start_of(desk.now),
    )
    await desk.stage([new_draft(desk, NOTES, note)])
    return note


async def _known(desk: Desk, note_id: str, space: Space, text: str) -> Note | None:
    if not is_uuid(note_id):
        raise InvalidFact("a note id is a UUID", field="noteId")
    found: Note | None = await desk.find(NOTES, note_id)
    if found is None:
        return None
    if found.text != text or (found.tenant_id, found.project_id) != (space.tenant, space.project):
        raise NoteExists(note_id)
    return found


async def delete_note(command: DeleteNote, desk: Desk) -> Decision:
    """Decide about the end of a note."""
    note = await get_note(desk, command.note_id, command.space)
    return Decision([Draft("NoteDeleted", note.note_id, {"note_id": note.note_id})])


DECIDERS: Mapping[type[Command], Decider] = {AddNote: add_note, DeleteNote: delete_note}
