"""A one-page reference of the language, for agents that write programs."""

from __future__ import annotations

SYNTAX = """# GraphProgram

A program puts a working graph W together. W starts empty. Each statement is one operator with one operation: the
operation gives a result R (nodes and links), the operator changes W by R.

| operator | effect |
| --- | --- |
| `+` | add R to W; what W has stays as it is |
| `-` | remove R's nodes from W, and the links they held |
| `&` | keep only nodes of W that are in R |
| `?` | like `+`; an empty R does nothing |
| `!` | like `+`; an empty R stops the program |

Links whose nodes are not in W go by themselves.

## Text

```
-- Exploration: name of the program
-- Description: what it is for

@param who: string = "Ada"
@param least: number

-- Step 1: a label
! MATCH (c) WHERE c.label = $who RETURN c;

-- Step 2: expand what W holds
+ MATCH (c)-[r]-(n) WHERE c.concept_id IN $W_IDS RETURN c, r, n LIMIT 50;

+ @api /search/concepts {"query": "$who", "limit": 10};

? IF count_gte 20 THEN {
  - MATCH (n) WHERE n.grounding_strength < $least RETURN n;
} ELSE {
  + MATCH (n:Concept) RETURN n LIMIT 5;
};
```

Every statement ends with `;`. A statement without operator is `+`. Lines that begin with `--` are comments.
A query may also be a JSON string, kept character by character: `+ @cypher "MATCH (n)\n\nRETURN n" LIMIT 5;`.
Conditions: `has_results`, `empty`, `count_gte N`, `count_lte N`, `has_ontology "x"`, `has_relationship "T"`.

## JSON

`{"version": 1, "metadata": {…}, "params": [{"name", "type": "string"|"number", "default"}], "statements": [{"op",
"operation", "label"}]}` with operations `{"type": "cypher", "query", "limit"}`, `{"type": "api", "endpoint", "params"}`
and `{"type": "conditional", "condition": {"test": …}, "then": […], "else": […]}`.

## Queries

openCypher that only reads: `MATCH … RETURN`. Return nodes, relationships or paths: numbers and texts do not enter W.
Every node has `concept_id`, `label` and `ontology`. `$W_IDS` is the list of ids in W. Variable-length patterns need an
upper bound of at most 6: `[r*1..3]`. Several types: `[r:A|B]`.

## Endpoints

| endpoint | required | optional |
| --- | --- | --- |
| `/search/concepts` | query | min_similarity, limit, ontology, offset |
| `/search/sources` | query | min_similarity, limit, ontology, offset |
| `/vocabulary/status` | | relationship_type, status_filter |
| `/concepts/batch` | concept_ids (a list, or `"$W_IDS"`) | include_details |
| `/concepts/details` | concept_id | include_diversity, include_grounding |
| `/concepts/related` | concept_id | max_depth, relationship_types |

## Good to know

- Seed, then expand: find a few concepts with `!`, then follow relationships from `$W_IDS`.
- A link enters W together with both of its nodes: `RETURN c, r, n`. `RETURN r` alone brings nothing.
- `& /vocabulary/status` clears W: its ids (`vocab:…`) are no concepts.
- At most 100 operations, 3 nested conditionals, 60 seconds; a deck chains up to 10 programs and hands W on.
- `aborted` in a result says which statement stopped and why; W is as it was before it.
"""
