"""How content is written."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="How content is written")
class Encoding(Enum):
    UTF8 = strawberry.enum_value("utf-8", description="As text")
    BASE64 = strawberry.enum_value("base64", description="As base64 of any bytes")
