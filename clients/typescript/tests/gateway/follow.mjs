// Follows the log over a connection that is cut again and again, until the last event that is expected.
// usage: node follow.mjs <url> <transport> <last position>; prints what came
import { Client } from "@ugs/client";

const [url, transport, last] = process.argv.slice(2);
const seqs = [];
const states = [];
const client = new Client({ url, transport });
for await (const { seq } of client.events({ after: 0, firstWaitMs: 20, longestWaitMs: 200, onState: (state) => states.push(state) })) {
  seqs.push(seq);
  if (seqs.length % 500 === 0) process.stderr.write(`${seqs.length}\n`);
  if (seq >= Number(last)) break;
}
client.close();
const lost = states.filter((state) => state === "lost").length;
console.log(JSON.stringify({ seqs, lost }));
