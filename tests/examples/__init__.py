"""The examples, used as a stranger would use them."""
