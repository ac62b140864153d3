"""Structured logs, redaction of secrets, metrics, traces and health endpoints.

Logs, redaction and traces import nothing of the gateway but the settings, so every package may import them. `metrics`
reads the document cache of `ugs_schema`, `health` uses the admission of `graphql`.
"""
