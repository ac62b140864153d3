"""Blocks of the visual editor: compiled into statements, and recovered from their annotations."""

from ugs.programs.blocks.compiler import Block, blocks_of, compile_blocks

__all__ = ["Block", "blocks_of", "compile_blocks"]
