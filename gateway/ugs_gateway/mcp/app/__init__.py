"""The MCP App: one self-contained page that draws what was recalled, and the data it draws."""
