"""A GraphQL schema generated from an ontology: its types, filters, mutations and subscriptions.

Imports `compiler` and `graph`; the gateway serves it under `/graphql/<ontology>`.
"""
