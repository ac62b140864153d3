"""Ranges of a property: the index answers as a test of every row does, whatever has been changed since."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ugs.feature_registry import CATALOG
from ugs.graph.model import NODES, Node
from ugs.reads.filters import Op, Property, all_of, eq, matcher
from ugs.values import JsonText, to_text
from ugs_backends.memory.query.index_selection import choose_access_path
from ugs_backends.memory.tables.table import make_tables

VALUES = [1, 2, 2.5, -3, 2**62, "a", "b", "ä", "", True, None, [1], {"x": 1}]
SOUGHT = [2, 2.0, float("inf"), float("nan"), "a", "", True, None, [1], -(2**70)]


def node(number: int, value: Any) -> Node:
    properties = to_text({"v": value}) if value != "absent" else JsonText("{}")
    return Node(f"n{number}", "T" if number % 3 else "U", properties, None, 1, 1, 1)


@pytest.mark.parametrize("op", [Op.LT, Op.LE, Op.GT, Op.GE])
def test_a_range_is_what_a_test_of_each_row_finds(op: Op) -> None:
    random, table = Random(3), make_tables(CATALOG)[NODES.name]
    for step in range(400):
        number = random.randrange(150)
        if step % 5:
            table.put(node(number, random.choice([*VALUES, random.random(), "absent"])))
        else:
            table.drop(f"n{number}")
        sought = Property("properties_text", "v", op, random.choice(SOUGHT))
        for where in (sought, all_of(eq("type", "U"), sought)):
            test = matcher(where)
            found = {row.id for row in choose_access_path(table, where).found()}
            assert found == {row.id for row in table.rows.values() if test(row)}, where
