"""Execution of programs: operators over the working graph, queries and endpoint calls.

Imports `validation`; only `api` and the endpoints import from here.
"""
