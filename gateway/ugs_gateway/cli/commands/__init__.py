"""Commands with an argument parser of their own, one module each, named like the command.

A module has `arguments(parser)` and `run(options) -> int`; the docstring is its help text. Loaded by
`cli.argparse_commands`.
"""
