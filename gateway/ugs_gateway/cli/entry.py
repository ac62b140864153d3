"""The entry point of `ugs`: installs the handling of interrupts before it imports anything else."""

from __future__ import annotations

import sys

from ugs_gateway.cli.output.exit_codes import INTERRUPTED


def main() -> int:
    """Run the command of this process's arguments; returns its exit code."""
    try:
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        # Interrupted before there was anybody to say so.
        return INTERRUPTED


def run(words: list[str]) -> int:
    """Run the command."""
    from ugs_gateway.cli.main import main

    return main(words)


if __name__ == "__main__":
    sys.exit(main())
