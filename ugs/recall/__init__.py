"""Recall: facts, notes, passages and nodes that answer a question, ranked together, within a budget of tokens.

`api` is the Python interface, above the system. Reads only; every number is an integer, so all stores rank alike.
"""
