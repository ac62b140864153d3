"""Versions of rows, and the state at a past position as a store to read from.

`version_tables` declares the tables of versions, `version_writer` makes them from the log, `past_session` answers reads
of them with the statements of the present, and `row_history` knows how far they reach. Only the storages import from
here.
"""
