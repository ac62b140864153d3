"""Where `ugs` begins: nothing is loaded before an interruption can be answered calmly, and little before it must be."""

from __future__ import annotations

import os
import sys

FAILED, INTERRUPTED = 1, 130


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
    if answer is None:
        from gateway.cli.main import main

        return main(words)
    return said(answer)


def said(answer: str) -> int:
    """Say an answer as the ordinary way would: in UTF-8, whatever the terminal's language."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to tell, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
