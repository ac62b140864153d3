"""Authentication: JWTs, their public keys (JWKS), and API keys of a file or a store; gives a principal.

Imports `observability`, the rate limiter of `http`, the settings, the prepared documents of `ugs_schema` and the
kernel; endpoints reach it through `graphql.admission`.
"""
