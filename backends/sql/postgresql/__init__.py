"""What is PostgreSQL's own: its spelling, its connections, its errors and its notifications."""
