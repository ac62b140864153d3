"""Command line input: tokenizer, usage lines, property arguments, and the target store or gateway.

Every other package of the command line may import from here.
"""
