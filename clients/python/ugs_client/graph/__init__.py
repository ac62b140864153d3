"""The types and root fields of one schema.

Made by `python -m ugs_client.codegen` from the schema of the gateway: not edited by hand.
"""
