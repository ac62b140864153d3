"""Neo4j: nodes and relationships as a Neo4j user would draw them, with the log in the same database.

A graph node carries its type as a label and its scalar properties under their own names, an edge is a relationship
of its type, so that plain Cypher in any Neo4j tool finds them. Whatever Neo4j cannot hold exactly (nested values,
nulls, odd keys) stays lossless in one reserved text. Everything internal wears a label that begins with `UGS` or a
property that begins with `_`; `layout` has the whole picture.
"""

import logging

from ugs_backends.neo4j.storage import open_neo4j

# While a server is unreachable the driver logs every attempt. Our errors report it once; without a handler the driver's
# messages would go to stderr, a thousand a minute.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

__all__ = ["open_neo4j"]
