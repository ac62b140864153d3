"""How a command can end. This module imports next to nothing."""

import os
import sys

OK, FAILED, USAGE, NO_STORE, NO_ADDRESS, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130

EXIT_CODES = """exit codes:
  0    done, or the answer is yes
  1    refused or failed; the error says why
  2    the command was not understood
  3    the store could not be opened, or the gateway not be reached
  4    the address to serve on could not be used
  70   a mistake in ugs itself
  130  interrupted
"""


def unwritten(error: OSError) -> int:
    """Standard output takes nothing more: say so, and leave nothing there for the end of Python to stumble over."""
    if not isinstance(error, BrokenPipeError):  # then whoever read it has gone, and nothing is left to tell
        print(f"ugs: the answer cannot be written: {error.strerror}", file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
