"""The file mirror: registry, ontology and content of a system as human-readable files (seed 004).

Imports `observability` and the kernel; `app`, `tenants`, `mcp` and the command `mirror` import from here.
"""
