"""Vector search: embedders, vector tables, their maintenance from the log, and similarity search.

Features above `ugs.facts` may import from here.
"""
