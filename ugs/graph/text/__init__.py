"""The graph as text: words of nodes, full-text search, labels, and content bodies."""
