"""The text DSL: a way to write programs by hand. The JSON syntax tree stays the canonical form."""

from ugs.programs.text.printing import print_text
from ugs.programs.text.reading import ParsedText, parse_program, parse_text

__all__ = ["ParsedText", "parse_program", "parse_text", "print_text"]
