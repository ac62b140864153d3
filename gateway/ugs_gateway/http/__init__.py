"""HTTP concerns of every endpoint: middleware, bodies, content negotiation, CORS, ETags, rate limits, header timeouts.

Imports `observability`, and of `graphql` only the error of a rejected request; every package of the gateway may import
from here.
"""
