"""Graph patterns as one SQL statement, and its rows as matches.

Imports `compiler`; the sessions import from here.
"""
