"""Errors of programs."""

from __future__ import annotations

from ugs.errors import DigestMismatch, Forbidden, UgsError
from ugs.programs.validation.result import ValidationResult


class ProgramInvalid(UgsError):
    """The program breaks rules; the details hold the complete validation result."""

    code = "PROGRAM_INVALID"
    summary = "The program breaks rules of the language"

    def __init__(self, validation: ValidationResult, entry: int | None = None) -> None:
        place = "" if entry is None else f" for deck entry {entry}"
        first = "".join(f": [{issue.rule_id}] {issue.message}" for issue in validation.errors[:1])
        super().__init__(f"Program validation failed{place}{first}", validation=validation.as_json())
        self.validation = validation
        self.entry = entry
        if entry is not None:
            self.details["entry"] = entry

    @property
    def short(self) -> str:
        """The message without the issues."""
        return self.message.partition(": [")[0]


class ProgramNotFound(UgsError):
    """There is no program with this number."""

    code = "PROGRAM_NOT_FOUND"
    summary = "There is no such program"

    def __init__(self, id: int) -> None:
        super().__init__(f"Program not found: {id}", program_id=id)


class ProgramTextError(UgsError):
    """The text cannot be parsed as a program; the details give line and column."""

    code = "PROGRAM_TEXT"
    summary = "The text of a program cannot be read"

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{message} (line {line}, column {column})", line=line, column=column)


class BlockInvalid(UgsError):
    """A block lacks a parameter, or has one it cannot use."""

    code = "BLOCK_INVALID"
    summary = "A block cannot be compiled"

    def __init__(self, index: int, message: str) -> None:
        super().__init__(f"Block {index}: {message}", block=index)


def access_denied(id: int) -> Forbidden:
    return Forbidden("Access denied to this program", program_id=id)


def digest_mismatch(id: int) -> DigestMismatch:
    return DigestMismatch(
        f"Program {id} is not what was validated and stored: its digest differs. Save it again.", program_id=id
    )
