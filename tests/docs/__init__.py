"""The pages: complete, linked, and true."""
