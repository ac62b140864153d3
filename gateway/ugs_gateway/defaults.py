"""Default store and settings file. Imports nothing, so that the command line can start without loading the kernel."""

DEFAULT_STORE = "file:./data"
DEFAULT_FILE = "ugs.toml"


def store_in(folder: str) -> str:
    """The URL of the file store in a folder."""
    return f"file:{folder}"
