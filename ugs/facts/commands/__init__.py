"""Commands about facts, entities, notes and predicates, and how each is decided.

Only `ugs.facts` and its clients that send commands import from here.
"""
