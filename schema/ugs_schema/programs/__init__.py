"""GraphQL types and fields of programs (seed 002).

May import `graph`; only `roots` and `cypher` import from here.
"""
