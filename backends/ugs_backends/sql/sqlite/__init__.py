"""The SQLite store: dialect, connections, errors and files."""
