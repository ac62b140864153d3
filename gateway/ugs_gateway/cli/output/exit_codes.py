"""Exit codes. This module imports almost nothing, because every start needs it."""

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


def report_closed_output(error: OSError) -> int:
    """Report that standard output is closed, and detach it so that Python's shutdown does not fail on it."""
    if not isinstance(error, BrokenPipeError):  # then whoever read it has gone, and nothing is left to tell
        print(f"ugs: the answer cannot be written: {error.strerror}", file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
