"""Modules of the kernel import each other in one direction, type annotations included."""

import grimp
import networkx

CYCLES = {
    frozenset(f"ugs.cypher.analysis.{name}" for name in ("expressions", "patterns", "projections", "queries")): (
        "the grammar is recursive: expressions hold subqueries, queries hold expressions"
    ),
    frozenset({"ugs.reads.count_columns", "ugs.reads.level_executor"}): (
        "counts of related rows are read by levels, and a level may have counts"
    ),
}
"""Import cycles that are meant, each with its reason."""


def test_the_kernel_has_no_import_cycles_but_those_with_a_reason() -> None:
    graph = grimp.build_graph("ugs", exclude_type_checking_imports=False, cache_dir=None)
    imports = networkx.DiGraph(
        (module, imported) for module in graph.modules for imported in graph.find_modules_directly_imported_by(module)
    )
    cycles = {frozenset(found) for found in networkx.strongly_connected_components(imports) if len(found) > 1}
    assert cycles == set(CYCLES)
