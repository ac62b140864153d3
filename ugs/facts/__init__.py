"""Temporal facts (seed 001): entities, predicates, notes, and what is asserted, since when, and why.

`api` is the Python API, `commands` change, `queries` read, `model` has the tables. Imports `ugs.graph` at most.
"""
