"""GraphProgram (seed 002): bounded query programs over the graph, checked, stored and run."""
