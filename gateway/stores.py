"""Which store is meant when nobody names one. This module imports nothing."""

DEFAULT_STORE = "file:./data"
DEFAULT_FILE = "ugs.toml"


def store_in(folder: str) -> str:
    """The store that lies in a folder."""
    return f"file:{folder}"
