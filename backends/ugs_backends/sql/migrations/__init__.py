"""Migration of a store when it is opened: layout steps, then additions to the catalog.

Only the storages import from here.
"""
