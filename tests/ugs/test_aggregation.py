"""Aggregation in the kernel: numbers are read back from their sort keys, and long walks let others run."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugs.graph.model import Node
from ugs.reads import aggregation
from ugs.reads.aggregation import Aggregation, Aggregator, Value, normalize_value
from ugs.reads.sort_keys import number_text, parse_number_text
from ugs.values import MAX_INT, MIN_INT, JsonText

numbers = st.one_of(
    st.integers(MIN_INT, MAX_INT),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([2.0**63, -(2.0**63), 2.0**53 + 2, 5e-324, -5e-324, 1.7e308, -0.0, 0.1]),
)


@given(numbers)
def test_a_number_is_read_back_from_its_sort_key(number: int | float) -> None:
    found = parse_number_text(number_text(number))

    assert found == number
    assert type(found) is type(normalize_value(number))


async def test_others_run_while_many_rows_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs.support.time_slice.SLICE_SECONDS", 0.0)
    rows = [Node(f"n{at}", None, JsonText(f'{{"rank":{at}}}'), None, 1, 1, 1) for at in range(1_024)]
    rank = Value("properties_text", "rank")
    aggregator, seen = Aggregator(Aggregation(sums=(rank,))), []

    async def look() -> None:
        for _ in range(3):
            seen.append(sum(total.count for total in aggregator._totals.values()))
            await asyncio.sleep(0)

    await asyncio.gather(aggregator.add_rows(rows), look())

    assert any(0 < count < len(rows) for count in seen), seen
    [whole] = aggregator.groups()
    assert (whole.count, whole.sums[rank].sum) == (1_024, 1_023 * 512)
    assert len(rows) > aggregation.ROWS_PER_PAUSE
