"""The execution engine: operators over rows, compiled from the syntax tree, fed by a view of the graph."""
