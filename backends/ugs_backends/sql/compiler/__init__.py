"""Reads of one table as SQL: conditions, comparisons, orders, counts, words and vectors.

What databases spell differently is in `dialect`. `plans`, `patterns`, `write` and the sessions import from here.
"""
