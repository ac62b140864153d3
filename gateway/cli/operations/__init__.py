"""The operations on a graph, one async function each: what was asked and a port in, an answer out."""
