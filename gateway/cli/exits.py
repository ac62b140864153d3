"""How a command can end."""

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
