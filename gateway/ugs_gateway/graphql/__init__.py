"""GraphQL over HTTP, server-sent events and WebSocket: parsing, admission, persisted documents, GraphiQL.

Imports `http`, `auth`, `observability`, `ugs_schema` and the help page of `rest`. The other endpoints import its
`admission`, `request`, `stream_access` and `persisted_documents`.
"""
