"""The Python client against a real gateway, over connections that break, and in this process."""
