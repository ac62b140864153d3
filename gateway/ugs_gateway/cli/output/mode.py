"""The choice of the output mode, and the statistics text, without importing a library."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

AGENT, HUMAN = "agent", "human"
MODES = (AGENT, HUMAN)
FLAGS = {"--agent": AGENT, "--human": HUMAN}
VARIABLE = "UGS_ACTOR"
PREFERENCES = "_user_prefs"
"""The node whose property `actor` holds its user's output mode."""

STATS_TITLE = "📊 Graph Statistics"
STATS_LINE = "━" * 18


def choose_mode(
    flag: str | None, prefs: Mapping[str, Any], config: Mapping[str, Any], environ: Mapping[str, str]
) -> str:
    """The mode by the seed's five steps: flag, user, system, environment, agent. Unknown values count as absent."""
    wishes = (flag, prefs.get("actor"), config.get("default_actor"), environ.get(VARIABLE))
    return next((wish for wish in wishes if wish in MODES), AGENT)


def format_counts(stats: Mapping[str, Any]) -> str:
    """The statistics for people."""
    lines = [f"  {name.capitalize()}: {count}" for name, count in stats.items()]
    return "\n".join([STATS_TITLE, STATS_LINE, *lines])
