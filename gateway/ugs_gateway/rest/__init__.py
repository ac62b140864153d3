"""Endpoints that are not GraphQL: programs with their OpenAPI document, the event log, the landing page.

Imports `http` and the admission of `graphql`; `app` mounts what is here.
"""
