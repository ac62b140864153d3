"""Recall in GraphQL: one root field, with the types of its result."""
