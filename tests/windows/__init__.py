"""The product on a machine that behaves like Windows, as far as a child process on Linux can pretend to."""
