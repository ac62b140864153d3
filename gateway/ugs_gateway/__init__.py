"""The gateway: HTTP, GraphQL, REST, MCP and the command line over one system.

Imports `ugs_schema` and `ugs`; nothing imports it. `app` builds the application, `server` runs it on a socket.
"""
