"""Proposed facts: kept beside the facts, seen by no read of them, until somebody else approves them."""
