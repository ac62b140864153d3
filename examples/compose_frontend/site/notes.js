// A page without a framework: reads a list, adds to it, and hears of what others add (server-sent events).
const list = document.querySelector("ul");
const headers = { "content-type": "application/json" };

async function ask(query, variables) {
  const response = await fetch("graphql", { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

async function show() {
  const { graphNodes, stats } = await ask(
    '{ stats { events } graphNodes(filter: {type: "note"}, first: 100) { nodes { id properties } } }',
  );
  list.replaceChildren(
    ...graphNodes.nodes.map((node) => Object.assign(document.createElement("li"), { textContent: node.properties.text })),
  );
  return stats.events;
}

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const input = { type: "note", properties: { text: form.text.value }, idempotencyKey: crypto.randomUUID() };
  form.reset();
  await ask("mutation($input: AddNodeInput!) { addNode(input: $input) { node { id } } }", { input });
});

async function follow(position) {
  const query = "subscription($after: Position) { nodesChanged(filter: {type: \"note\"}, afterSeq: $after) { seq } }";
  const body = JSON.stringify({ query, variables: { after: position } });
  const response = await fetch("graphql", { method: "POST", headers: { ...headers, accept: "text/event-stream" }, body });
  for (const reader = response.body.getReader(); !(await reader.read()).done; ) await show();
}

for (;;) {
  try {
    await follow(await show());
  } catch {
    // The connection is gone; what happened meanwhile is shown by the next list.
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
