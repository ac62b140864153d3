"""The GraphQL schema on real stores."""
