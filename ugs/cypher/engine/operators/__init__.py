"""Operators: rows in, rows out."""
