"""Operations on a graph, one async function each: parsed arguments and a client in, a result out.

Loaded by name from `cli.command_table`; they reach the graph through `cli.clients` only.
"""
