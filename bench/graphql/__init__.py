"""GraphQL servers side by side: our gateway and its peers over the same graph, under the same load, in one run."""
