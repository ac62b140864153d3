"""Build hook: in CI no wheel is built without Studio, which would serve plain pages and look whole.

Elsewhere a wheel without it is allowed: the gateway works without Node.js. Editable installs come before `make web`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = tuple(f"gateway/ugs_gateway/static/{name}/index.html" for name in ("studio", "graphiql"))


class RequireStudio(BuildHookInterface[Any]):
    """Refuses to build a wheel that lacks a page, where CI is set."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Check before anything is built."""
        if (
            self.target_name != "wheel"
            or version == "editable"
            or os.environ.get("CI", "").lower() not in ("true", "1")
        ):
            return
        missing = [page for page in PAGES if not (Path(self.root) / page).is_file()]
        if missing:
            raise RuntimeError(f"The wheel lacks {', '.join(missing)}: run `make web` first, or build without CI set")
