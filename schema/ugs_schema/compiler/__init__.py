"""Operations compiled once: documents, plans with variables, response rendering, cost and limits.

`executor` is what endpoints call. Imports the types of `graph`; knows nothing of HTTP.
"""
