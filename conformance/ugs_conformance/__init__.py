"""The conformance kit: what every store must do, as tests that any store can run.

    pytest --pyargs ugs_conformance --backend myscheme://…

Each test names the requirements it proves (`clauses.toml` has their sentences). `python -m ugs_conformance --all` runs
the kit on all stores at hand and writes a report of requirement by store.
"""
