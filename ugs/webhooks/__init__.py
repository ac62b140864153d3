"""Webhooks kept in a store: where changes are sent, how far each has come, and what could not be delivered.

`registry` is the Python API, above the system; everything else here is below it. Sending is the gateway's affair.
"""
