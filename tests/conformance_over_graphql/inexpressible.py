"""Which tests of the kit send what GraphQL or JSON cannot express, each with its reason; no other test may skip.

The table is closed in both directions: a test that cannot be expressed and is not listed fails, and so does a
listed test that runs to its end, because its entry is out of date.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from ugs_conformance.support.api_under_test import Inexpressible

TYPED = "GraphQL's types refuse the value before the kernel sees it"
JSON = "JSON has no such value"
VALUES = "test_errors.py::test_values_that_a_store_could_not_keep_exactly_are_refused"
WEIGHTS = "test_errors.py::test_weights_that_are_no_exact_numbers_are_refused"
TYPES = "test_errors.py::test_types_that_are_no_names_are_refused"

REASONS: dict[str, str] = {
    "test_graph.py::test_nodes_have_no_weight_and_edges_no_data": TYPED,
    "test_batches.py::test_one_bad_operation_undoes_the_whole_batch_and_is_named[bad4-InvalidJSON]": JSON,
    "test_versions_and_time.py::test_places_that_time_does_not_have_are_refused": TYPED,
    "test_facts_predicates.py::test_settings_are_checked": TYPED,
    "test_errors.py::test_property_keys_that_no_store_keeps_are_refused[\\ud800]": JSON,
    **{
        f"{VALUES}[{case}]": JSON
        for case in (
            *("not a number", "infinity", "minus infinity", "enormous", "lone surrogate", "surrogate in a key"),
            *("key that is a number", "a set", "bytes", "an object"),
        )
    },
    f"{VALUES}[deep]": TYPED,
    **{f"{WEIGHTS}[{case}]": JSON for case in ("nan", "inf", "enormous")},
    **{f"{WEIGHTS}[{case}]": TYPED for case in ("'2'", "None", "True", "[1]", "18446744073709551617")},
    **{f"{TYPES}[{case}]": TYPED for case in ("7", "kind3", "True")},
}


class InexpressibleTests:
    """A pytest plugin: skips what is listed, fails what is not."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        reason = REASONS.get(item.nodeid.rpartition("/")[2])
        try:
            yield
        except Inexpressible as error:
            if reason is None:
                pytest.fail(
                    f"cannot be expressed, and is not listed in tests/conformance_over_graphql/inexpressible.py: {error}"
                )
            pytest.skip(f"{reason}: {error}")
        if reason is not None:
            pytest.fail("is listed in tests/conformance_over_graphql/inexpressible.py, but can be expressed")
