"""Ontologies by themselves: patterns, definitions, and the texts they are written in."""
