"""Queries for stored programs that the caller may see."""

from __future__ import annotations

from collections.abc import Iterable

from ugs.programs.commands import Caller, get_stored
from ugs.programs.errors import access_denied, digest_mismatch
from ugs.programs.model import PROGRAMS, ProgramRow
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Op, Where, all_of, any_of, eq
from ugs.reads.plan import Order
from ugs.storage import Session
from ugs.values import FORBIDDEN_TEXT, MAX_INT

NEWEST_FIRST = (Order("created_at", descending=True), Order("id", descending=True))


def visible_to(caller: Caller) -> Where:
    """The condition for the caller's own programs and the system's; administrators see all."""
    return EVERYTHING if caller.is_admin else any_of(eq("owner_id", caller.user), eq("owner_id", None))


def matching_programs(caller: Caller, search: str | None) -> Where:
    """The condition for visible programs whose name or description contains a text, case-insensitively."""
    if not search:
        return visible_to(caller)
    if FORBIDDEN_TEXT.search(search):
        return NOTHING
    return all_of(visible_to(caller), Compare("folded", Op.CONTAINS, search.casefold()))


async def get_program(session: Session, id: int, caller: Caller) -> ProgramRow:
    """The program with this number; refused if the caller may not see it or its hash differs."""
    row = await get_stored(session, id)
    if not caller.sees(row):
        raise access_denied(id)
    return check_digest(row)


async def find_programs(session: Session, ids: Iterable[int], caller: Caller) -> dict[int, ProgramRow]:
    """The programs with these numbers that exist and are visible to the caller, by number."""
    rows = await session.find_many(PROGRAMS, sorted({id for id in ids if 0 < id <= MAX_INT}))
    return {row.id: check_digest(row) for row in rows if caller.sees(row)}


def check_digest(row: ProgramRow) -> ProgramRow:
    """The program; refused with DIGEST_MISMATCH if its hash differs."""
    if not row.is_genuine:
        raise digest_mismatch(row.id)
    return row
