"""Commands of the queue: keep a note and ask for its extraction, finish one, postpone one.

What a model says is not believed blindly. A claim becomes a fact only if its quote stands in the note, and its subject
and its object stand in the note's text; its predicate may be new, and is then pending. Whatever is refused is recorded
with the path of the part at fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from ugs.errors import UgsError
from ugs.events import Draft
from ugs.extraction.events import FINISHED, GIVEN_UP, OWNER, POSTPONED, REQUESTED
from ugs.extraction.model import EXTRACTIONS, WAITING, Extraction
from ugs.facts.commands.facts import AddFact, NoteRef, assert_fact
from ugs.facts.commands.ingestion import Object, Stated, check_relation
from ugs.facts.commands.notes import AddNote, ensure_note
from ugs.facts.errors import InvalidFact
from ugs.facts.model import NOTES, Note
from ugs.facts.normalization import normalize_name
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import Instant, instant_of
from ugs.feature import Command, CommandWarning, Decider, Decision
from ugs.proposals.commands import new_proposal
from ugs.proposals.events import proposed_draft
from ugs.unit_of_work import UnitOfWork

MAX_CLAIMS = 32
MAX_TRIES = 8
FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 5_000, 3_600_000
MAX_ERROR_CHARS = 500
TOO_MANY = f"a note gives at most {MAX_CLAIMS} facts"


class Claim(Struct, frozen=True):
    """One statement that an extractor read out of a note; nothing about it has been checked."""

    subject: str
    predicate: str
    object: str
    quote: str
    """The words of the note that say so."""
    is_entity: bool = False
    """Whether the object is a person or thing, rather than a value."""
    valid_from: str | None = None
    valid_to: str | None = None


class RememberNote(Command, frozen=True):
    """Keep a note, and ask for its extraction; a note that is known is neither kept nor extracted again."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    text: str
    source: str | None = None
    note_id: str | None = None


class FinishExtraction(Command, frozen=True):
    """Keep the facts among the claims about a note that waits; nothing happens if it waits no more."""

    note_id: str
    extractor: str
    claims: tuple[Claim, ...] = ()
    propose: bool = False
    """Make them proposals, which somebody has to approve."""


class PostponeExtraction(Command, frozen=True):
    """Note that a try failed: the next is due after a pause that doubles, and after the last none is."""

    note_id: str
    error: str
    final: bool = False


class Support(NamedTuple):
    """Where the quote of a claim stands in the note, and when the fact holds."""

    start: int
    end: int
    valid_from: Instant | None
    valid_to: Instant | None


class Unsupported(Exception):
    """A claim that is not believed: the path of its part at fault, and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


async def remember(command: RememberNote, uow: UnitOfWork) -> Decision:
    """Decide the addition of a note with its place in the queue."""
    given = AddNote(
        tenant_id=command.tenant_id,
        project_id=command.project_id,
        agent_id=command.agent_id,
        scope=command.scope,
        text=command.text,
        source=command.source,
        note_id=command.note_id,
    )
    known = None if command.note_id is None else await uow.find(NOTES, command.note_id)
    note = await ensure_note(uow, given)
    return Decision([] if known is not None else [Draft(REQUESTED, note.note_id, _owned(note))])


def _owned(row: Note | Extraction, **more: Any) -> dict[str, Any]:
    return {"note_id": row.note_id, **{name: getattr(row, name) for name in OWNER}, **more}


async def finish(command: FinishExtraction, uow: UnitOfWork) -> Decision:
    """Decide what is believed of the claims."""
    row: Extraction | None = await uow.find(EXTRACTIONS, command.note_id)
    if row is None or row.state != WAITING:
        return Decision([])
    note: Note | None = await uow.find(NOTES, command.note_id)
    if note is None:
        return Decision([])
    facts: list[dict[str, Any]] = []
    proposed: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    warnings: list[CommandWarning] = []
    for index, claim in enumerate(command.claims[:MAX_CLAIMS]):
        path = f"facts[{index}]"
        try:
            support = check_support(claim, note.text, path)
            if command.propose:
                id = await _propose(claim, note, support, command.extractor, path, uow)
                proposed.append({"proposal_id": id, "quote": [support.start, support.end]})
                continue
            asserted = await assert_fact(_fact_of(claim, note, support), uow, index)
        except Unsupported as error:
            refused.append({"path": error.path, "reason": error.reason})
        except UgsError as error:
            refused.append({"path": path, "reason": f"{error.code}: {error.message}"[:MAX_ERROR_CHARS]})
        else:
            facts.append({"fact_id": asserted.fact.fact_id, "quote": [support.start, support.end]})
            warnings += asserted.warnings
    if len(command.claims) > MAX_CLAIMS:
        refused.append({"path": f"facts[{MAX_CLAIMS}]", "reason": TOO_MANY})
    more = {"proposals": proposed} if command.propose else {}
    told = _owned(row, extractor=command.extractor, attempts=row.attempts + 1, facts=facts, refused=refused, **more)
    return Decision([Draft(FINISHED, row.note_id, told)], warnings)


async def _propose(claim: Claim, note: Note, support: Support, extractor: str, path: str, uow: UnitOfWork) -> str:
    """Stage the proposal of a claim; returns its id."""
    object = Object(entity=claim.object) if claim.is_entity else Object(value=claim.object)
    said = Stated(claim.subject, claim.predicate, object, support.valid_from, support.valid_to)
    check_relation(said, path)
    row = new_proposal(uow, note, said, f"extractor {extractor}")
    await uow.stage([proposed_draft(row)])
    return row.proposal_id


def check_support(claim: Claim, text: str, path: str) -> Support:
    """Where a claim stands in the note's text; raises `Unsupported`."""
    start = text.find(claim.quote) if claim.quote.strip() else -1
    if start < 0:
        raise Unsupported(f"{path}.quote", "the note does not say this")
    for name in ("subject", "object"):
        if not _says(text, getattr(claim, name)):
            raise Unsupported(f"{path}.{name}", "it does not stand in the note")
    if not _says(claim.quote, claim.subject) and not _says(claim.quote, claim.object):
        raise Unsupported(f"{path}.quote", "it names neither the subject nor the object")
    if not claim.predicate.strip():
        raise Unsupported(f"{path}.predicate", "it is blank")
    begin, end = (_instant(getattr(claim, name), f"{path}.{name}") for name in ("valid_from", "valid_to"))
    if begin is not None and end is not None and end <= begin:
        raise Unsupported(f"{path}.valid_to", "it is not after valid_from")
    return Support(start, start + len(claim.quote), begin, end)


def _says(text: str, words: str) -> bool:
    """Whether a text holds these words as words, ignoring case and spaces."""
    wanted = normalize_name(words)
    held = normalize_name(text)
    at = held.find(wanted) if wanted else -1
    while at >= 0:
        before, after = held[at - 1 : at], held[at + len(wanted) : at + len(wanted) + 1]
        if not (before.isalnum() and wanted[0].isalnum()) and not (after.isalnum() and wanted[-1].isalnum()):
            return True
        at = held.find(wanted, at + 1)
    return False


def _instant(text: str | None, path: str) -> Instant | None:
    try:
        return None if not text else instant_of(text, path)
    except InvalidFact as error:
        raise Unsupported(path, "it is no time with a zone") from error


def _fact_of(claim: Claim, note: Note, support: Support) -> AddFact:
    return AddFact(
        tenant_id=note.tenant_id,
        project_id=note.project_id,
        agent_id=note.agent_id,
        scope=note.scope,
        subject=EntityRef(name=claim.subject),
        predicate=claim.predicate,
        object_entity=EntityRef(name=claim.object) if claim.is_entity else None,
        object_value=None if claim.is_entity else claim.object,
        valid_from=support.valid_from,
        valid_to=support.valid_to,
        notes=(NoteRef(id=note.note_id),),
    )


async def postpone(command: PostponeExtraction, uow: UnitOfWork) -> Decision:
    """Decide when a failed extraction is tried again, if ever."""
    row: Extraction | None = await uow.find(EXTRACTIONS, command.note_id)
    if row is None or row.state != WAITING:
        return Decision([])
    attempts, error = row.attempts + 1, command.error[:MAX_ERROR_CHARS]
    if command.final or attempts >= MAX_TRIES:
        return Decision([Draft(GIVEN_UP, row.note_id, _owned(row, attempts=attempts, error=error))])
    due_at = uow.now + min(FIRST_PAUSE_MS << row.attempts, LONGEST_PAUSE_MS)
    return Decision([Draft(POSTPONED, row.note_id, _owned(row, attempts=attempts, error=error, due_at=due_at))])


DECIDERS: Mapping[type[Command], Decider] = {
    RememberNote: remember,
    FinishExtraction: finish,
    PostponeExtraction: postpone,
}
