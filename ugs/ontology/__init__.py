"""Ontologies and content: typed memory on top of the graph (seed 004)."""
