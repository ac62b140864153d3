"""The doors: HTTP with GraphQL, health pages and the command line, all over one system."""
