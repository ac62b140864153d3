"""`python -m tests.windows ugs WORDS…` is `ugs`, and `python -m tests.windows DEED FOLDER` does a deed, as on Windows."""

import asyncio
import sys
from pathlib import Path

from tests.windows.windows_simulation import pretend


def run(word: str, *rest: str) -> int:
    """Nothing of ours may be loaded before the pretending begins."""
    pretend()
    if word == "ugs":
        from ugs_gateway.cli.entry import main

        sys.argv = [word, *rest]
        return main()
    from tests.windows import actions

    asyncio.run(getattr(actions, word)(Path(rest[0])))
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
