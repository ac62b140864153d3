"""Neo4j 5.26 LTS Community, run from its Maven jars on Java 17 or newer."""

from tests.servers.neo4j.server import Neo4j

__all__ = ["Neo4j"]
