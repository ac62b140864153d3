"""Stores in SQL databases: SQLite files and PostgreSQL schemas; `settings` documents their URLs."""

from __future__ import annotations

from ugs_backends.sql.settings import SqliteSettings, parse_settings
from ugs_backends.sql.storage import SqlStorage

__all__ = ["SqlStorage", "open_sql"]


def open_sql(url: str) -> SqlStorage:
    """Create the store of a URL, without opening it."""
    settings = parse_settings(url)
    if isinstance(settings, SqliteSettings):
        from ugs_backends.sql.sqlite.storage import PrivateSqliteStorage, SqliteStorage

        return (PrivateSqliteStorage if settings.path is None else SqliteStorage)(settings)
    # The driver is an optional dependency, so it is imported only when it is needed.
    from ugs_backends.sql.postgresql.storage import PostgresqlStorage

    return PostgresqlStorage(settings)
