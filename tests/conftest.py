"""Settings of every test run: the same random cases on every machine, new ones when asked for.

`UGS_TEST_RANDOM=1` (set by `make fuzz`) lets Hypothesis choose other cases in each run. A counter-example that is
found that way is kept as an `@example` or a plain test beside the law it breaks.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None)
settings.register_profile("random", derandomize=False, print_blob=True)
settings.load_profile("random" if os.environ.get("UGS_TEST_RANDOM") else "repeatable")
