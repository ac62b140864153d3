"""Seed 000: nodes, edges, scopes and the questions people ask of them."""
