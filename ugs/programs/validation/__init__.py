"""Validation of programs, layer by layer: JSON, structure, parameters, query safety, limits.

Needs no store. `execution` and `commands` import from here.
"""
