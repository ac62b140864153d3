import { graphql } from "relay-runtime";

export const query = graphql`
  query BoardQuery($first: Int!, $after: String) {
    ...Board_tasks @arguments(first: $first, after: $after)
    viewer { user }
  }
`;

export const fragment = graphql`
  fragment Board_tasks on Query
  @argumentDefinitions(first: { type: "Int!" }, after: { type: "String" })
  @refetchable(queryName: "BoardPaginationQuery") {
    graphNodes(first: $first, after: $after, filter: { type: "task" }) @connection(key: "Board_graphNodes") {
      edges { cursor node { id label properties ...Board_task } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const task = graphql`
  fragment Board_task on GraphNode @refetchable(queryName: "BoardTaskQuery") {
    label
    version
    outgoing(first: 5) { edges { node { type toNode { id label } } } }
  }
`;

export const move = graphql`
  mutation BoardMoveMutation($input: UpdateNodeInput!) {
    updateNode(input: $input) { clientMutationId node { id version properties } warnings { code message } }
  }
`;

export const live = graphql`
  subscription BoardSubscription($after: Position) {
    nodesChanged(filter: { type: "task" }, afterSeq: $after) { id seq type elementId }
  }
`;
