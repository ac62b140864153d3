"""Reducers of the events of the queue. Every event carries the owner of its note, who decides who may see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Event
from ugs.extraction.model import DONE, EXTRACTIONS, FAILED, WAITING, Extraction
from ugs.facts.audience import Owner, Readers
from ugs.feature import Audience, allow_everybody
from ugs.reads.filters import eq
from ugs.storage import Session

REQUESTED, POSTPONED, FINISHED, GIVEN_UP = (
    "ExtractionRequested",
    "ExtractionPostponed",
    "ExtractionFinished",
    "ExtractionGivenUp",
)
OWNER = ("tenant_id", "project_id", "agent_id", "scope")


def request(event: Event) -> list[Change]:
    data = event.payload
    owner = {name: data[name] for name in OWNER}
    row = Extraction(note_id=data["note_id"], **owner, state=WAITING, attempts=0, due_at=event.timestamp)
    return [Put(EXTRACTIONS, row)]


def postpone(event: Event) -> list[Change]:
    data = event.payload
    fields = {"attempts": data["attempts"], "due_at": data["due_at"], "error": data["error"]}
    return [Patch(EXTRACTIONS, data["note_id"], fields)]


def finish(event: Event) -> list[Change]:
    data = event.payload
    return [Patch(EXTRACTIONS, data["note_id"], {"state": DONE, "attempts": data["attempts"], "error": None})]


def give_up(event: Event) -> list[Change]:
    data = event.payload
    fields = {"state": FAILED, "attempts": data["attempts"], "error": data["error"]}
    return [Patch(EXTRACTIONS, data["note_id"], fields)]


def forget_note(event: Event) -> list[Change]:
    """A note that is deleted leaves the queue."""
    return [Drop(EXTRACTIONS, eq("note_id", event.payload["note_id"]))]


def forget_withdrawn_note(event: Event) -> list[Change]:
    """A note that an undo takes away leaves the queue; one that it brings back does not enter it again."""
    return forget_note(event) if event.payload["drop"] else []


REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    REQUESTED: request,
    POSTPONED: postpone,
    FINISHED: finish,
    GIVEN_UP: give_up,
    "NoteDeleted": forget_note,
    "NoteRestored": forget_withdrawn_note,
}
ELEMENTS: Mapping[str, str] = dict.fromkeys((REQUESTED, POSTPONED, FINISHED, GIVEN_UP), "note_id")


async def audiences_of(session: Session, events: Sequence[Event]) -> list[Audience]:
    """Those who may see the note may see what happened to its extraction; of a deleted note the facts decide alone."""
    return [Readers((Owner.of(event.payload),)) if event.type in ELEMENTS else allow_everybody for event in events]
