"""Random rows, conditions, orders and pages, with the values that databases like to bend."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.backends.sql.samples import PARTS, THINGS, VISITS, Part, Thing, Visit
from ugs.reads.filters import EVERYTHING, All, Any_, Compare, Has, Linked, Not, Op, Property, Where
from ugs.reads.plan import Order, Page, full_order
from ugs.tables import Field, Format, Kind, Table
from ugs.values import to_text

INTEGERS = [0, 1, -1, 2, 10, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 1.5, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e300, 5e-324]
TEXTS = ["", "a", "A", "b", "ab", "a|b", "é", "\ud7ff", "\ue000", "\U0010ffff", "\U0001f600", "a'b", '"', "%", "a_"]
TEXTS += ["a%_\\a%_", '""é\U0001f600""']
LONG_TEXT = "x" * 150
KEYS = ["k", "K", "name", "a.b", '"q"', "$", "é"]

integers = st.sampled_from(INTEGERS)
floats = st.sampled_from(FLOATS) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.sampled_from([*TEXTS, LONG_TEXT, LONG_TEXT + "a", LONG_TEXT + "b"])
scalars = st.none() | st.booleans() | integers | floats | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
properties = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=3)
property_texts = properties.map(to_text)

things = st.builds(
    Thing,
    id=texts.filter(bool),
    kind=st.none() | texts,
    size=integers,
    ratio=st.none() | floats,
    done=st.none() | st.booleans(),
    props=property_texts,
    memo=st.none() | property_texts,
)
parts = st.builds(Part, owner=texts, number=st.integers(0, 3), label=texts, weight=floats, attributes=property_texts)
UUIDS = [f"{number:08x}-0000-4000-8000-{number:012x}" for number in (0, 1, 10, 0xA0000000, 0xFFFFFFFF)]
INSTANTS = [0, 1, -1, 1_700_000_000_123_457, 2**53 + 1, -62_135_596_800_000_000, 253_402_300_799_999_999]
uuids, instants = st.sampled_from(UUIDS), st.sampled_from(INSTANTS)
visits = st.builds(
    Visit, id=uuids, at=instants, host=st.none() | uuids, until=st.none() | instants,
    label=texts.filter(lambda text: text.isprintable()),
)  # fmt: skip
rows = st.fixed_dictionaries(
    {
        THINGS: st.lists(things, max_size=8, unique_by=lambda row: row.id),
        PARTS: st.lists(parts, max_size=8, unique_by=lambda row: (row.owner, row.number)),
        VISITS: st.lists(visits, max_size=8, unique_by=lambda row: (row.id, row.at)),
    }
)

_ORDERED = [Op.LT, Op.LE, Op.GT, Op.GE]
_TEXTUAL = [Op.CONTAINS, Op.STARTS, Op.ENDS]
numbers = integers | floats | st.sampled_from([2**64, -(2**70), 10**400, float("inf"), float("-inf"), True])
odd_texts = texts | st.sampled_from(["\x00", "a\x00", "\ud800", "a\udfff", "|", "x", "xxx", "%_\\", 'é\U0001f600"'])
by_kind: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.TEXT: odd_texts,
    Kind.JSON: odd_texts | property_texts,
    Kind.INTEGER: numbers,
    Kind.REAL: numbers,
    Kind.BOOLEAN: st.booleans() | st.sampled_from([0, 1, 2, 0.5]),
}
by_format: dict[Format | None, st.SearchStrategy[Any]] = {
    Format.UUID: uuids | uuids.map(str.upper) | st.sampled_from(["0", "a0000000-", UUIDS[3][:-1], UUIDS[3] + "0"]),
    Format.INSTANT: instants | st.sampled_from([2**62, -(2**62), 253_402_300_800_000_000, 1.5]),
    None: st.nothing(),
}


def list_values(field: Field) -> st.SearchStrategy[Any]:
    """Values to compare a field with."""
    return by_kind[field.kind] | by_format[field.format]


@st.composite
def comparisons(draw: st.DrawFn, table: Table) -> Where:
    field: Field = draw(st.sampled_from(table.fields))
    values = list_values(field)
    textual = _TEXTUAL if field.kind in (Kind.TEXT, Kind.JSON) else []
    op = draw(st.sampled_from([Op.EQ, Op.NE, Op.IN, Op.EXISTS, *_ORDERED, *textual]))
    if op is Op.IN:
        return Compare(field.name, op, tuple(draw(st.lists(st.none() | values, max_size=4))))
    anything = st.none() | st.sampled_from(["a", 1, 1.5]) if op in (Op.EQ, Op.NE) else st.nothing()
    return Compare(field.name, op, None if op is Op.EXISTS else draw(values | anything))


@st.composite
def property_conditions(draw: st.DrawFn, table: Table) -> Where:
    field = draw(st.sampled_from([f.name for f in table.fields if f.kind is Kind.JSON and not f.nullable]))
    op = draw(st.sampled_from(list(Op)))
    values = json_values | odd_texts | st.sampled_from([2**64, 10**400, 2**53 + 1])
    value = draw(st.lists(values, max_size=4)) if op is Op.IN else draw(values)
    return Property(field, draw(st.sampled_from([*KEYS, "\x00", "missing"])), op, value)


@cache
def leaves(table: Table) -> st.SearchStrategy[Where]:
    words = st.sampled_from(["a", "b", "é", "missing", "\x00"]).map(Has)
    plain = comparisons(table) | words | st.just(EVERYTHING)
    return plain | property_conditions(table) if any(field.kind is Kind.JSON for field in table.fields) else plain


@cache
def wheres(table: Table, linked: int = 1) -> st.SearchStrategy[Where]:
    base = leaves(table)
    if linked:
        for relation in table.relations.values():
            target = {"things": THINGS, "parts": PARTS, "visits": VISITS}[relation.table]
            base |= st.builds(Linked, st.just(relation.name), wheres(target, linked - 1))
    return st.recursive(base, _combined, max_leaves=4)


def _combined(inner: st.SearchStrategy[Where]) -> st.SearchStrategy[Where]:
    some = st.lists(inner, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(All, some) | st.builds(Any_, some)


@cache
def orders(table: Table) -> st.SearchStrategy[tuple[Order, ...]]:
    part = st.builds(Order, st.sampled_from(table.names), st.booleans())
    return st.lists(part, max_size=3, unique_by=lambda order: order.field).map(tuple)


@st.composite
def pages(draw: st.DrawFn, table: Table, order: tuple[Order, ...], rows: list[Any], per: bool = True) -> Page:
    whole = full_order(table, order)
    places = st.none()
    if rows:
        places |= st.sampled_from(rows).map(lambda row: tuple(getattr(row, part.field) for part in whole))
    places |= st.tuples(*(_place(table.field(part.field)) for part in whole))
    limits = st.none() | st.integers(0, 4)
    pers = st.none() | st.sampled_from(table.names) if per else st.none()
    return Page(draw(limits), draw(places), draw(st.booleans()), draw(pers))


def _place(field: Field) -> st.SearchStrategy[Any]:
    values = st.booleans() if field.kind is Kind.BOOLEAN else list_values(field)
    return st.none() | values if field.nullable else values
