"""API keys kept in a store: made once, shown once, kept as hashes, in a log of their own beside the graph's."""
