"""The PostgreSQL store: dialect, connections, errors and notifications."""
