"""Several MCP clients on one data folder: the process that holds the folder serves the sessions of the others.

`address` is how they find each other, `host` serves, `relay` passes messages on and survives the end of the host,
`membership` joins the host or becomes it.
"""
