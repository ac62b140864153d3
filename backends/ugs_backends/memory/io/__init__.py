"""Files, fsync, locks and the worker thread; tests replace `filesystem` to inject faults.

Imports only `file_format` of the store; everything else may import from here.
"""
