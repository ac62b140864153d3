"""Tests of the query engine."""
