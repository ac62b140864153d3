"""The MCP server `graph-memory-core`: typed memory as tools for agents (seed 004), over stdio and HTTP.

`server` implements the protocol, `tools` has the tools. `app` and the command `mcp` import from here.
"""
