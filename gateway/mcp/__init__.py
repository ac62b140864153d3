"""The MCP server `graph-memory-core`: typed memory as tools for agents (seed 004)."""
