// The tabs a newcomer finds open. Each runs on the demonstration graph (`ugs load-demo`).
const tab = (query, variables) => ({ query, variables: variables && JSON.stringify(variables, null, 2) });

export const EXAMPLES = [
  tab(`# Everything that works on the demonstration graph: press the button, or Ctrl and Enter.
# An empty store? Run the tab "LoadDemo" first.
query Overview {
  stats { nodes edges types properties events }
  graphNodes(first: 5) {
    totalCount
    nodes { id type label properties }
    pageInfo { hasNextPage endCursor }
  }
}
`),
  tab(`# Fill an empty store with the demonstration graph.
mutation LoadDemo {
  loadDemo { nodes edges }
}
`),
  tab(
    `# A node, the edges that leave it, and where they lead: one call of the store, however deep.
query Around($id: ID!) {
  graphNode(id: $id) {
    label
    degree
    outgoing(first: 10) {
      nodes { type weight toNode { id type label } }
    }
  }
}
`,
    { id: "alice" },
  ),
  tab(`# Nodes that meet conditions, sorted.
query Filtered {
  graphNodes(
    filter: { type: "person" }
    orderBy: [{ field: ID, direction: DESC }]
  ) {
    nodes { id label version modifiedAt }
  }
}
`),
  tab(`# The shortest way between two nodes.
query Way {
  path(from: "alice", to: "bob") { totalWeight nodes { id } }
}
`),
  tab(`# The graph as it was after the first three events.
query Earlier {
  stats(at: { position: 3 }) { nodes edges }
}
`),
  tab(`# A change. The same idempotencyKey again gives the same answer and changes nothing.
mutation AddNode {
  addNode(input: { type: "note", properties: { title: "From GraphiQL" }, idempotencyKey: "first" }) {
    node { id label version }
    event { seq type }
    warnings { code message }
  }
}
`),
  tab(`# Everything that has happened, then everything that happens: stays open until you stop it.
subscription Watch {
  events(afterSeq: 0) { seq type elementId }
}
`),
];
