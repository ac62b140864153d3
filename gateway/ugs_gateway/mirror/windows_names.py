"""Device names that Windows reserves in every folder, in any case and with any extension."""

from __future__ import annotations

import re

DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?", re.IGNORECASE)


def is_device(name: str) -> bool:
    """Whether no file on Windows can have this name."""
    return DEVICE.fullmatch(name) is not None
