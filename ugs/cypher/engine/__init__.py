"""The engine: plans of operators over rows, compiled from the syntax tree, fed by a view of the graph."""
