"""Storage backends, found by the scheme of their URL through entry points, never imported by other packages.

Each imports `ugs` only and knows no other backend.
"""
