"""Errors of facts, in addition to those of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.errors import UgsError


class InvalidFact(UgsError):
    """A fact, name or instant is not well formed."""

    code = "INVALID_FACT"
    summary = "A fact must have exactly one object and a window that is not empty"


class EvidenceRequired(UgsError):
    """A fact needs at least one note as evidence."""

    code = "EVIDENCE_REQUIRED"
    summary = "A fact needs evidence"

    def __init__(self) -> None:
        super().__init__("A fact needs at least one note as evidence: give the id of a note, or the text of a new one.")


class FactConflict(UgsError):
    """Another fact of a single-valued predicate begins at the same instant."""

    code = "FACT_CONFLICT"
    summary = "Two facts exclude each other"

    def __init__(self, fact_id: str, why: str) -> None:
        super().__init__(f"The fact {fact_id} {why}", factId=fact_id)


class FactNotFound(UgsError):
    """No fact has the id."""

    code = "FACT_NOT_FOUND"
    summary = "No such fact"

    def __init__(self, fact_id: str) -> None:
        super().__init__(f"There is no fact {fact_id[:80]}", factId=fact_id[:80])


class NoteNotFound(UgsError):
    """No note has the id."""

    code = "NOTE_NOT_FOUND"
    summary = "No such note"

    def __init__(self, note_id: str) -> None:
        super().__init__(f"There is no note {note_id[:80]}", noteId=note_id[:80])


class NoteExists(UgsError):
    """The id belongs to another note."""

    code = "NOTE_EXISTS"
    summary = "The note id is taken"

    def __init__(self, note_id: str) -> None:
        super().__init__(f"The note {note_id} exists with another text", noteId=note_id)


class EntityNotFound(UgsError):
    """No entity has the id or name."""

    code = "ENTITY_NOT_FOUND"
    summary = "No such entity"

    def __init__(self, named: str) -> None:
        super().__init__(f"There is no entity {named[:80]!r}", entity=named[:80])


class EntityAmbiguous(UgsError):
    """An alias belongs to several entities."""

    code = "ENTITY_AMBIGUOUS"
    summary = "The name means several entities"

    def __init__(self, surface: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{surface!r} is an alias of {len(candidates)} entities: say which one by its id",
            surface=surface,
            candidates=list(candidates),
        )


class EntityNameTaken(UgsError):
    """Another entity of the project has the name."""

    code = "ENTITY_NAME_TAKEN"
    summary = "The name belongs to another entity"

    def __init__(self, name: str, entity_id: str) -> None:
        super().__init__(
            f"Another entity is called {name[:80]!r}: {entity_id}. Merge the two, or choose another name.",
            name=name[:80],
            entityId=entity_id,
        )


class EntityInUse(UgsError):
    """Facts refer to the entity."""

    code = "ENTITY_IN_USE"
    summary = "Facts refer to the entity"

    def __init__(self, entity_id: str, facts: int) -> None:
        super().__init__(
            f"{facts} facts refer to the entity {entity_id}. Delete them first, or use force."
            if facts
            else f"Facts that only others may read refer to the entity {entity_id}. Ask an administrator to delete it.",
            entityId=entity_id,
            facts=facts,
        )


class PredicateNotFound(UgsError):
    """No predicate has the id or alias."""

    code = "PREDICATE_NOT_FOUND"
    summary = "No such predicate"

    def __init__(self, named: str) -> None:
        super().__init__(f"There is no predicate {named[:80]!r}", predicate=named[:80])


class PredicateConflict(UgsError):
    """The predicate is not in the state the change needs, or a name is taken."""

    code = "PREDICATE_CONFLICT"
    summary = "The predicate does not allow the change"


class PredicateInUse(UgsError):
    """Facts refer to the predicate."""

    code = "PREDICATE_IN_USE"
    summary = "Facts refer to the predicate"

    def __init__(self, predicate_id: str, facts: int) -> None:
        super().__init__(
            f"{facts or 'Some'} facts refer to the predicate {predicate_id}. Deprecate it instead.",
            predicateId=predicate_id,
            facts=facts,
        )


class StructuredInvalid(UgsError):
    """A note cannot be ingested; `path` names the part at fault."""

    code = "REJECT_STRUCTURED_INVALID"
    summary = "A part of a note to ingest is not usable"

    def __init__(self, path: str, why: str, **more: object) -> None:
        super().__init__(f"{path}: {why}", path=path, **more)
