"""API keys kept in a store: shown once, stored as hashes, in a log of their own beside the graph's.

`keyring` is the Python API, above the system; everything else here is below it.
"""
