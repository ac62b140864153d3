"""The scale model: its curve follows from its costs, and its costs are measured on a real store."""

from __future__ import annotations

import pytest

from bench.scale_model import CLIENTS, Costs, curve, measure, reads_per_second, simulate_writes, table
from tests import servers


def test_reads_grow_with_gateways_until_the_database_is_full_and_replicas_move_that() -> None:
    costs = Costs(read_gateway=100, read_database=50)
    assert reads_per_second(costs, 1, 4) == (10_000, "gateways")
    assert reads_per_second(costs, 8, 4) == (80_000, "gateways")
    assert reads_per_second(costs, 64, 4) == (80_000, "database")
    assert reads_per_second(costs, 64, 4, replicas=3) == (240_000, "database")


def test_one_gateway_writes_as_fast_as_cpu_and_lock_in_turn_allow() -> None:
    costs = Costs(write_gateway=100, lock_fixed=1_000, lock_each=50)
    done, group, busy = simulate_writes(costs, 1)
    cycle = CLIENTS * 100 + 1_000 + CLIENTS * 50
    assert done == pytest.approx(CLIENTS / cycle * 1e6, rel=0.02)
    assert group == CLIENTS and busy == pytest.approx((1_000 + CLIENTS * 50) / cycle, rel=0.05)


def test_writes_bend_where_the_lock_is_always_held_and_more_databases_move_that() -> None:
    costs = Costs(write_gateway=100, lock_fixed=1_000, lock_each=50)
    bound = CLIENTS / (1_000 + CLIENTS * 50) * 1e6
    rates = [simulate_writes(costs, gateways)[0] for gateways in (1, 2, 4, 16, 64)]
    assert rates == sorted(rates) or max(rates) - rates[-1] < 0.02 * bound
    assert rates[1] > 1.3 * rates[0] and max(rates) <= bound * 1.02
    assert rates[-1] == pytest.approx(bound, rel=0.05)
    assert simulate_writes(costs, 64, databases=4)[0] == pytest.approx(4 * bound, rel=0.05)


def test_the_curve_is_printed_for_all_gateways() -> None:
    text = table(curve(Costs(), 8))
    assert [line.split(" | ")[0].strip("| ") for line in text.splitlines()[2:]] == [
        "1",
        "2",
        "4",
        "8",
        "16",
        "32",
        "64",
    ]


async def test_costs_are_measured_on_a_real_store() -> None:
    costs = await measure(servers.require("postgresql"), repeats=50, groups=3)
    assert all(getattr(costs, name) > 0 for name in costs.__struct_fields__)
    assert costs.lock_fixed > costs.lock_each
