"""How large a query may be, checked before anything is executed."""

from __future__ import annotations

from collections.abc import Callable

from strawberry.extensions import MaxAliasesLimiter, MaxTokensLimiter, QueryDepthLimiter, SchemaExtension

MOST_TOKENS = 1_000
MOST_DEPTH = 10
MOST_ALIASES = 15


def limits() -> list[Callable[[], SchemaExtension]]:
    """The limits as extensions of the schema."""
    return [
        lambda: MaxTokensLimiter(max_token_count=MOST_TOKENS),
        lambda: MaxAliasesLimiter(max_alias_count=MOST_ALIASES),
        lambda: QueryDepthLimiter(max_depth=MOST_DEPTH),
    ]
