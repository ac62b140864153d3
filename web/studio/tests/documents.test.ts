// Every document that Studio sends is valid against the schema that the gateway publishes.
import { readFileSync } from "node:fs";
import { buildSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";
import { documents } from "../src/api/documents.ts";

const path = process.env.UGS_SCHEMA ?? new URL("../../../schema/ugs_schema/schema.graphql", import.meta.url);
const schema = buildSchema(readFileSync(path, "utf8"));

test.each(Object.entries(documents))("%s is valid", (_, text) => {
  expect(validate(schema, parse(text))).toEqual([]);
});
