"""Studio, the web application at `/`: serves its bundled files. It talks to the gateway by GraphQL alone.

May import `ugs_gateway.http`, `ugs_gateway.rest` and `ugs_gateway.observability`; nothing but `app` imports it.
"""
