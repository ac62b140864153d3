"""Ontologies and content: typed memory on top of the graph (seed 004).

`api` is the Python API, `commands` change, `queries` read, `model` has the tables.
"""
