"""Built-in programs in the text DSL: general queries that can be stored as the system's own on request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ugs.programs.ast import GraphProgram
from ugs.programs.text import parse_program

AMONG = """-- Step {step}: the relationships among them
+ MATCH (a)-[r]->(b) WHERE a.concept_id IN $W_IDS AND b.concept_id IN $W_IDS RETURN a, r, b;
"""

NEIGHBOURHOOD = """-- Exploration: Neighbourhood
-- Description: A concept and everything within two steps of it
-- Author: system

@param id: string

-- Step 1: the concept itself
! MATCH (c) WHERE c.concept_id = $id RETURN c;

-- Step 2: what lies within two steps
? MATCH (c)-[r*1..2]-(n) WHERE c.concept_id = $id RETURN c, r, n;

""" + AMONG.format(step=3)

PATH = """-- Exploration: Path
-- Description: The shortest path between two concepts, of at most six steps
-- Author: system

@param from: string
@param to: string

-- Step 1: the path
! MATCH p = shortestPath((a)-[*..6]-(b)) WHERE a.concept_id = $from AND b.concept_id = $to RETURN p;

""" + AMONG.format(step=2)

COMMON_GROUND = """-- Exploration: Common ground
-- Description: What two concepts are both connected with
-- Author: system

@param one: string
@param other: string

-- Step 1: around the one
+ MATCH (c)--(n) WHERE c.concept_id = $one RETURN n;

-- Step 2: of it, what is around the other too
& MATCH (c)--(n) WHERE c.concept_id = $other RETURN n;

-- Step 3: and the two themselves
? MATCH (c) WHERE c.concept_id IN [$one, $other] RETURN c;

""" + AMONG.format(step=4)

WEAKLY_GROUNDED = """-- Exploration: Weakly grounded
-- Description: Concepts with little support, and what rests on them
-- Author: system

@param below: number = 0.3

-- Step 1: concepts that say so themselves
+ MATCH (c) WHERE c.grounding_strength < $below RETURN c;

-- Step 2: what they are said to support
? MATCH (c)-[r:SUPPORTS]->(n) WHERE c.concept_id IN $W_IDS RETURN c, r, n;

""" + AMONG.format(step=3)

CONTRADICTIONS = """-- Exploration: Contradictions
-- Description: Concepts that contradict each other, with what supports either side
-- Author: system

-- Step 1: the disputes
+ MATCH (a)-[r:CONTRADICTS]-(b) RETURN a, r, b;

-- Step 2: who stands behind them
? MATCH (s)-[r:SUPPORTS]->(c) WHERE c.concept_id IN $W_IDS RETURN s, r, c;
"""

SEARCH_AND_EXPAND = """-- Exploration: Search and expand
-- Description: Concepts like the words, and what they are connected with
-- Author: system

@param query: string
@param limit: number = 10

-- Step 1: concepts like the words
! @api /search/concepts {"query": "$query", "limit": "$limit"};

-- Step 2: their neighbours
? MATCH (c)-[r]-(n) WHERE c.concept_id IN $W_IDS RETURN c, r, n;

""" + AMONG.format(step=3)

ORPHANS = """-- Exploration: Orphans
-- Description: Concepts that nothing is connected with
-- Author: system

+ MATCH (c) WHERE NOT (c)--() RETURN c LIMIT 1000;
"""

HUBS = """-- Exploration: Hubs
-- Description: The twenty best connected concepts, and how they hang together
-- Author: system

-- Step 1: those with the most relationships
+ MATCH (c)-[r]-() WITH c, count(r) AS degree ORDER BY degree DESC, c.concept_id LIMIT 20 RETURN c;

""" + AMONG.format(step=2)

TEXTS: Mapping[str, str] = {
    "Neighbourhood": NEIGHBOURHOOD,
    "Path": PATH,
    "Common ground": COMMON_GROUND,
    "Weakly grounded": WEAKLY_GROUNDED,
    "Contradictions": CONTRADICTIONS,
    "Search and expand": SEARCH_AND_EXPAND,
    "Orphans": ORPHANS,
    "Hubs": HUBS,
}


@cache
def load_builtin_programs() -> Mapping[str, GraphProgram]:
    """The built-in programs by name."""
    return {name: parse_program(text) for name, text in TEXTS.items()}
