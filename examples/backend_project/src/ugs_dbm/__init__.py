"""A store in a `dbm` file; `storage` is the whole of it."""

from ugs_dbm.storage import open_dbm

__all__ = ["open_dbm"]
