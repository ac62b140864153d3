"""Stores in SQL databases: SQLite files and PostgreSQL schemas. `settings` says what their URLs look like."""

from __future__ import annotations

from backends.sql.settings import SqliteSettings, settings_from
from backends.sql.storage import SqlStorage

__all__ = ["SqlStorage", "open_sql"]


def open_sql(url: str) -> SqlStorage:
    """An SQL store for the URL, not opened yet."""
    settings = settings_from(url)
    if isinstance(settings, SqliteSettings):
        from backends.sql.sqlite.storage import PrivateSqliteStorage, SqliteStorage

        return (PrivateSqliteStorage if settings.path is None else SqliteStorage)(settings)
    # Its driver is an extra of the distribution, so it is only looked for when it is needed.
    from backends.sql.postgresql.storage import PostgresqlStorage

    return PostgresqlStorage(settings)
