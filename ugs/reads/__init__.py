"""Reads as data: filters, plans, patterns, rendering, and the executor that any store can use.

Below `ugs.storage`; backends and features import from here.
"""
