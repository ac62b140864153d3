"""The text DSL, for programs written by hand. The JSON syntax tree remains the canonical form."""

from ugs.programs.text.parser import ParsedText, parse_program, parse_text
from ugs.programs.text.printer import print_text

__all__ = ["ParsedText", "parse_program", "parse_text", "print_text"]
