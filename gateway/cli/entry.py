"""Where `ugs` begins: nothing is loaded before an interruption can be answered calmly, and little before it must be."""

from __future__ import annotations

import os
import sys

from gateway.cli.exits import INTERRUPTED, OK, unwritten


def main() -> int:
    """Run the command that was typed; answers its exit code."""
    try:
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        # Interrupted before there was anybody to say so.
        return INTERRUPTED


def run(words: list[str]) -> int:
    """Answer at a glance, or run the command."""
    from gateway.cli.quick import quick_answer

    answer = quick_answer(words, os.environ)
    if answer is not None:
        return said(answer)
    from gateway.cli.main import main

    return main(words)


def said(answer: str) -> int:
    """Say an answer as the ordinary way would: in UTF-8, whatever the terminal's language."""
    if sys.stdout is None:
        return OK  # it was closed before we began: nobody wants to hear it
    try:
        sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.flush()
    except OSError as error:
        return unwritten(error)
    return OK


if __name__ == "__main__":
    sys.exit(main())
