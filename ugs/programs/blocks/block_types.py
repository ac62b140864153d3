"""The statement of each block type: an operator and an operation (the seed's block type mapping)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ugs.programs.ast import ApiOp, BlockType, CypherOp, Operator
from ugs.programs.blocks.parameters import InvalidParameter, Params, quote_list, quote_text, quote_types
from ugs.programs.validation.parameters import literal

MAX_DEPTH = 5
MAX_HOPS = 6
MAX_ROWS = 1_000_000
ARROWS = {"outgoing": ("-", "->"), "incoming": ("<-", "-"), "both": ("-", "-")}

Step = tuple[Operator, CypherOp | ApiOp]


def search(params: Params) -> Step:
    text = quote_text(params.text("query"))
    query = f"MATCH (c) WHERE toLower(c.label) CONTAINS toLower({text}) RETURN c"
    return Operator.UNION, CypherOp(query, params.count("limit", MAX_ROWS))


def select_concept(params: Params) -> Step:
    return Operator.UNION, CypherOp(f"MATCH (c) WHERE c.concept_id = {quote_text(params.text('conceptId'))} RETURN c")


def neighborhood(params: Params) -> Step:
    depth = params.count("depth", MAX_DEPTH, 1)
    left, right = ARROWS[params.choice("direction", tuple(ARROWS), "both")]
    pattern = f"(c){left}[r{quote_types(params.texts('relationshipTypes'))}*1..{depth}]{right}(n)"
    return Operator.UNION, CypherOp(f"MATCH {pattern} WHERE c.concept_id IN $W_IDS RETURN c, r, n")


def path_to(params: Params) -> Step:
    hops = min(params.count("maxHops", 10, 3) or 3, MAX_HOPS)
    if params.choice("targetType", ("search", "concept"), "concept") == "concept":
        target = f"b.concept_id = {quote_text(params.text('targetConceptId'))}"
    else:
        target = f"toLower(b.label) CONTAINS toLower({quote_text(params.text('targetQuery'))})"
    return Operator.UNION, CypherOp(
        f"MATCH path = (a)-[*..{hops}]-(b) WHERE a.concept_id IN $W_IDS AND {target} RETURN path"
    )


def filter_ontology(params: Params) -> Step:
    names = quote_list(params.some_texts("ontologies"))
    return Operator.INTERSECT, CypherOp(f"MATCH (c) WHERE c.ontology IN {names} RETURN c")


def filter_edge(params: Params) -> Step:
    names = quote_types(params.some_texts("relationshipTypes"))
    return Operator.INTERSECT, CypherOp(f"MATCH (c)-[r{names}]-(n) RETURN c, r, n")


def filter_node(params: Params) -> Step:
    labels, least = params.texts("nodeLabels"), params.number("minConfidence", 0, 1)
    tests = [f"any(label IN labels(c) WHERE label IN {quote_list(labels)})"] if labels else []
    tests += [] if least is None else [f"c.confidence >= {least}"]
    if not tests:
        raise InvalidParameter("nodeLabels or minConfidence must be given")
    return Operator.INTERSECT, CypherOp(f"MATCH (c) WHERE {' AND '.join(tests)} RETURN c")


def exclude(params: Params) -> Step:
    key = params.choice("excludeProperty", ("label", "ontology"), "label")
    text = quote_text(params.text("excludePattern"))
    return Operator.DIFFERENCE, CypherOp(f"MATCH (c) WHERE toLower(c.{key}) CONTAINS toLower({text}) RETURN c")


def vector_search(params: Params) -> Step:
    return Operator.UNION, ApiOp("/search/concepts", _search_params(params))


def source_search(params: Params) -> Step:
    ontology = params.maybe_text("ontology")
    further = {} if ontology is None else {"ontology": literal(ontology)}
    return Operator.UNION, ApiOp("/search/sources", {**_search_params(params), **further})


def _search_params(params: Params) -> dict[str, Any]:
    found = {
        "query": literal(params.text("query")),
        "min_similarity": params.number("similarity", 0, 1),
        "limit": params.count("limit", MAX_ROWS),
    }
    return {key: value for key, value in found.items() if value is not None}


def epistemic_filter(params: Params) -> Step:
    """Filter by epistemic status. The endpoint takes one status to include, so more than one is refused."""
    included = params.some_texts("includeStatuses")
    if len(included) > 1 or params.texts("excludeStatuses"):
        raise InvalidParameter("includeStatuses must name exactly one status, and excludeStatuses none")
    return Operator.INTERSECT, ApiOp("/vocabulary/status", {"status_filter": literal(included[0])})


def enrich(params: Params) -> Step:
    return Operator.UNION, ApiOp("/concepts/batch", {"concept_ids": "$W_IDS", "include_details": True})


COMPILERS: Mapping[BlockType, Callable[[Params], Step]] = {
    BlockType.SEARCH: search,
    BlockType.SELECT_CONCEPT: select_concept,
    BlockType.NEIGHBORHOOD: neighborhood,
    BlockType.PATH_TO: path_to,
    BlockType.FILTER_ONTOLOGY: filter_ontology,
    BlockType.FILTER_EDGE: filter_edge,
    BlockType.FILTER_NODE: filter_node,
    BlockType.NOT: exclude,
    BlockType.VECTOR_SEARCH: vector_search,
    BlockType.SOURCE_SEARCH: source_search,
    BlockType.EPISTEMIC_FILTER: epistemic_filter,
    BlockType.ENRICH: enrich,
}
"""The compilers of all blocks that become one statement."""
