"""Comparisons: each store beside its raw driver, the memory store beside networkx and rustworkx.

Every figure is a ratio inside one run: all sides do the same work on the same data, answer with the same JSON bytes,
and are sampled in random order. `python -m bench --help` says how to choose what is measured.
"""
