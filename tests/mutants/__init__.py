"""Mutation testing: one-line faults put into the rules, each of which some test must notice.

`make mutants` (or `python -m tests.mutants --count 150`) copies the project into a scratch folder, changes one place at
a time, and runs the tests of that feature on the in-memory store. The report in `build/mutants` lists the survivors.
"""
