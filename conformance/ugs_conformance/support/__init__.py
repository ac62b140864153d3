"""What the tests of the kit use: fixtures, strategies, helpers of each feature, the record and the report.

Imports the kernel, pytest and hypothesis. `ugs_conformance.plugin` loads it only in runs of the kit.
"""
