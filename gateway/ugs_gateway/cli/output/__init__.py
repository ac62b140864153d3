"""Command line output: results, streams, exit codes, hints, progress, and the formatters.

Every other package of the command line may import from here.
"""
