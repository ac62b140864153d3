"""Blocks: what the visual editor puts together, compiled into statements and found again from their annotations."""

from ugs.programs.blocks.compiling import Block, blocks_of, compile_blocks

__all__ = ["Block", "blocks_of", "compile_blocks"]
