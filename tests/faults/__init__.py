"""Faults on purpose: killed processes, damaged files, full disks, clocks that jump, servers that die.

The quick tier runs with all other tests. `make faults` runs the full tier (`--faults=full`), prints the figures and
keeps them in `build/faults/report.json`. Each test names its fault by id (F01, F02 …) in `docs/faults.md`.
"""
