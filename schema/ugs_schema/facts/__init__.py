"""GraphQL types and fields of temporal facts (seed 001).

May import `graph`; only `roots` and `graph.types` import from here.
"""
