"""Where `ugs` begins: nothing is loaded before an interruption can be answered calmly."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command that was typed; answers its exit code."""
    try:
        from gateway.cli.main import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        # Interrupted before there was anybody to say so.
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
