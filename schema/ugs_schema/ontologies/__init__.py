"""GraphQL types and fields of ontologies and typed memory (seed 004).

May import `graph` and `compiler`; only `roots` and `graph.types` import from here.
"""
