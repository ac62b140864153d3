// The GraphQL over HTTP audit of the reference implementation; prints what each check said as JSON.
import { auditServer } from "graphql-http";

const results = await auditServer({ url: process.argv[2], fetchFn: fetch });
const told = results.map((result) => ({ id: result.id, name: result.name, status: result.status, reason: result.reason ?? null }));
console.log(JSON.stringify(told));
