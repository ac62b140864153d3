"""Temporal facts (seed 001): entities, predicates, notes, and what is asserted, since when, and why."""
