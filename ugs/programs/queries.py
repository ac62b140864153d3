"""Finding stored programs, as far as the caller may see them."""

from __future__ import annotations

from collections.abc import Iterable

from ugs.programs.commands import Caller, found
from ugs.programs.errors import access_denied, changed_behind
from ugs.programs.model import PROGRAMS, ProgramRow
from ugs.reads.plan import Order
from ugs.reads.where import EVERYTHING, NOTHING, Compare, Op, Where, all_of, any_of, eq
from ugs.storage import Session
from ugs.values import FORBIDDEN_TEXT, MAX_INT

NEWEST_FIRST = (Order("created_at", descending=True), Order("id", descending=True))


def visible_to(caller: Caller) -> Where:
    """Own programs and the system's; administrators see all."""
    return EVERYTHING if caller.is_admin else any_of(eq("owner_id", caller.user), eq("owner_id", None))


def listed(caller: Caller, search: str | None) -> Where:
    """Visible programs whose name or description contains a text; capitals do not matter."""
    if not search:
        return visible_to(caller)
    if FORBIDDEN_TEXT.search(search):
        return NOTHING
    return all_of(visible_to(caller), Compare("folded", Op.CONTAINS, search.casefold()))


async def get_program(session: Session, id: int, caller: Caller) -> ProgramRow:
    """The program behind a number, when the caller may see it and it is still what was validated."""
    row = await found(session, id)
    if not caller.sees(row):
        raise access_denied(id)
    return genuine(row)


async def find_programs(session: Session, ids: Iterable[int], caller: Caller) -> dict[int, ProgramRow]:
    """Those of the programs behind these numbers that there are for the caller."""
    rows = await session.find_many(PROGRAMS, sorted({id for id in ids if 0 < id <= MAX_INT}))
    return {row.id: genuine(row) for row in rows if caller.sees(row)}


def genuine(row: ProgramRow) -> ProgramRow:
    """The program, if it still is what was validated."""
    if not row.is_genuine:
        raise changed_behind(row.id)
    return row
