"""`python -m tests.windows ugs WORDS…` is `ugs`, and `python -m tests.windows DEED FOLDER` does a deed, as on Windows."""

import asyncio
import sys
from pathlib import Path

from tests.windows.pretending import pretend


def run(word: str, *rest: str) -> int:
    """Nothing of ours may be loaded before the pretending begins."""
    pretend()
    if word == "ugs":
        from gateway.cli.entry import main

        sys.argv = [word, *rest]
        return main()
    from tests.windows import deeds

    asyncio.run(getattr(deeds, word)(Path(rest[0])))
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
