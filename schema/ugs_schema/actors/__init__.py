"""GraphQL fields of actors (seed 003): messages to nodes and tasks.

May import `graph`; only `roots` imports from here.
"""
