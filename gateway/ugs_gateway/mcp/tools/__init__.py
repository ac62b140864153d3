"""The tools of the MCP server, one module per feature; `core` has the eighteen of the seed.

Imports the inputs and outputs beside it; only `ugs_gateway.mcp` imports from here.
"""
