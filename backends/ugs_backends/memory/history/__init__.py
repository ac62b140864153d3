"""Former rows of the memory store, and the state at a past position as a store to read from.

`row_versions` records changes and finds the row that held at a position; `past_tables` answers the queries of
`memory.query` from the current and the former rows, through their indexes; `past_log` is the part of the log before it.
"""
