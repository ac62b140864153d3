"""Values of the language and the four relations between them."""
