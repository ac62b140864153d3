// Each helper of the client against a gateway: one line for each, whatever fails ends it.
// usage: node helpers.mjs <url>
import assert from "node:assert/strict";
import { Client, GatewayError } from "@ugs/client";

const client = new Client(process.argv[2]);
const { graph, facts, programs, actors } = client;

const ann = await graph.addNode({ id: "ann", type: "person", properties: { name: "Ann", role: "engineer" } });
assert.deepEqual([ann.element.id, ann.element.version, ann.warnings], ["ann", 1, []]);
const missing = await graph.addEdge({ from: "ann", to: "nobody", type: "knows" });
assert.equal(missing.warnings[0].code, "W001");

// The same key is done once, and another change with it is refused.
const twice = { id: "bob", type: "person", idempotencyKey: "once" };
assert.deepEqual((await graph.addNode(twice)).element, (await graph.addNode(twice)).element);
await assert.rejects(graph.addNode({ ...twice, type: "dog" }), (error) => error instanceof GatewayError && error.code === "IDEMPOTENCY_CONFLICT");

const changed = await graph.updateNode({ id: "bob", properties: { name: "Bob" }, expectedVersion: 1 });
assert.equal(changed.element.version, 2);
await assert.rejects(graph.updateNode({ id: "bob", properties: {}, expectedVersion: 1 }), (error) => error.code === "VERSION_CONFLICT" && error.details.current === 2);

const knows = (await graph.addEdge({ from: "ann", to: "bob", type: "knows" })).element;
assert.equal((await graph.edge(knows.id)).to, "bob");
assert.equal((await graph.updateEdge({ id: knows.id, properties: { since: 2020 } })).element.properties.since, 2020);
assert.equal((await graph.upsertEdge({ from: "ann", to: "bob", type: "knows", properties: { since: 2021 } })).element.id, knows.id);
assert.equal((await graph.upsertNode({ id: "ann", properties: { age: 40 } })).element.properties.role, "engineer");
await graph.batch(Array.from({ length: 25 }, (_, at) => ({ addNode: { id: `n${String(at).padStart(2, "0")}`, type: "leaf" } })));

const leaves = [];
for await (const { id } of graph.nodes({ filter: { type: "leaf" }, first: 10, orderBy: [{ field: "ID" }] })) leaves.push(id);
assert.deepEqual(leaves, Array.from({ length: 25 }, (_, at) => `n${String(at).padStart(2, "0")}`));
const edges = [];
for await (const edge of graph.edges({ first: 1 })) edges.push(edge.type);
assert.deepEqual(edges, ["knows", "knows"]);
assert.equal((await graph.search("bob"))[0].node.id, "bob");
assert.deepEqual((await graph.cypher("MATCH (a)-[:knows]->(b) WHERE id(a) = $a RETURN id(b)", { a: "ann" })).rows, [["bob"]]);
const position = await client.position();
assert.deepEqual(await graph.delete({ id: "n00" }), ["n00"]);
assert.equal(await graph.node("n00"), null);
assert.equal((await graph.node("n00", { position })).id, "n00");

const fact = await facts.add({ scope: "project_shared", subject: { name: "Ann" }, predicate: "lives in", objectValue: "Berlin", notes: [{ text: "Ann wrote from Berlin" }] });
assert.equal(fact.created, true);
assert.deepEqual((await facts.timeline({ name: "Ann" })).map(({ objectValue }) => objectValue), ["Berlin"]);
assert.equal((await facts.why(fact.fact.factId)).notes[0].text, "Ann wrote from Berlin");
assert.match((await facts.recall("Where does Ann live?")).text, /Berlin/);
await facts.ingest({ scope: "project_shared", notes: [{ note: { text: "Bob likes tea" }, structured: { relations: [{ subject: "Bob", predicate: "likes", object: { value: "tea" } }] } }] }).catch((error) => assert.ok(error instanceof GatewayError, error));
assert.notEqual((await facts.invalidate(fact.fact.factId, { reason: "moved" })).validTo, null);

const dsl = "@param role: string\n\n+ MATCH (p) WHERE p.role = $role RETURN p;\n+ MATCH (a)-[r]->(b) RETURN a, r, b;\n";
const done = await programs.run({ dsl, params: { role: "engineer" } });
assert.deepEqual([done.aborted, done.result.nodes.map(({ conceptId }) => conceptId).sort()], [null, ["ann", "bob"]]);
const steps = [];
for await (const { step, graph: left, result } of programs.steps({ dsl, params: { role: "engineer" } })) steps.push(step ? [step.path, left.nodes.length] : ["end", result.result.nodes.length]);
assert.deepEqual(steps, [["0", 1], ["1", 2], ["end", 2]]);
const saved = await programs.save({ name: "by role", dsl });
assert.equal(saved.validation.valid, true);
assert.equal((await programs.save({ name: "broken", dsl: "+ MATCH (p) WHERE p.role = $role RETURN p;" })).validation.valid, false);
for await (const { name, programId } of programs.list()) assert.deepEqual([name, programId], ["by role", saved.program.programId]);
assert.equal((await programs.run({ programId: saved.program.programId, params: { role: "engineer" } })).result.nodes.length, 2);

const reply = await actors.send({ nodeId: "ann", type: "get" });
assert.equal(typeof reply.success, "boolean");

await assert.rejects(client.query("{ nothing }"), (error) => error.code === "GRAPHQL_VALIDATION_FAILED");
await assert.rejects(new Client({ url: "http://127.0.0.1:1", retry: { tries: 1 } }).query("{ stats { nodes } }"), (error) => error.code === "OFFLINE");
await assert.rejects(client.events({ after: 0, types: ["Nonsense"] }).next(), (error) => error.code === "GRAPHQL_VALIDATION_FAILED");
console.log("all helpers work");
