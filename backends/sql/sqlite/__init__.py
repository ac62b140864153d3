"""What is SQLite's own: its spelling, its connections, its errors and its files."""
