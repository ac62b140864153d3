"""The command line: a table of commands, each imported when it is called.

`entry` is the entry point of `ugs`. `commands` have an argparse parser of their own, `operations` work on a graph
through `clients`.
"""
