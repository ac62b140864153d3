"""Shortest paths: Dijkstra from both ends, and Bellman-Ford where weights are negative."""
