"""GraphQL requests answered in the protocol of the web server, without the framework.

Gives the same answers as `graphql.endpoint`, which tests compare. Only `app` and `server` import from here.
"""
