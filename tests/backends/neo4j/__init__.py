"""Tests of the Neo4j store, on a real server."""
