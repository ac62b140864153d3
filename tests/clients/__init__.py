"""Real JavaScript clients against a real gateway; their packages come from the registry when the tests run."""
