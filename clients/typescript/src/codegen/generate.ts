// TypeScript from a schema and the operations of an application: types for what goes in and what comes back.
import { type DocumentNode, type FragmentDefinitionNode, type GraphQLSchema, type OperationDefinitionNode, Kind, buildSchema, parse, print, validate } from "graphql";
import { inputTypes, scalarTypes, typeOfVariable } from "./inputs.ts";
import { selectionType } from "./selections.ts";

export interface GenerateOptions {
  /** What a scalar of the schema is in TypeScript, beyond those of the gateway. */
  scalars?: Record<string, string>;
  /** Where `TypedDocument` comes from. */
  from?: string;
  /** Where `Json` comes from; the same place, unless it is told. */
  json?: string;
}

const HEAD = "// Written by ugs-codegen; run it again instead of editing this.";

/** A module with the schema's inputs and enums, and for each operation its document, its variables and its result. */
export function generate(sdl: string, operations: string, { scalars = {}, from = "@ugs/client", json = from }: GenerateOptions = {}): string {
  const schema = buildSchema(sdl);
  const document = parse(operations || "{ __typename }");
  if (operations) check(schema, document);
  const known = { ...scalarTypes(schema), ...scalars };
  const parts = operations ? operationParts(schema, document, known) : [];
  const used = operations ? usedNames(parts.join("\n"), inputTypes(schema, known)) : inputTypes(schema, known);
  const text = [...used.values(), ...parts].join("\n\n");
  const imports = [
    ...(parts.length ? [`import { type TypedDocument, typed } from "${from}";`] : []),
    ...(/\bJson\b/.test(text) ? [`import type { Json } from "${json}";`] : []),
  ];
  return `${[HEAD, ...imports].join("\n")}\n\n${text}\n`;
}

function check(schema: GraphQLSchema, document: DocumentNode): void {
  const errors = validate(schema, document);
  if (errors.length) throw new Error(errors.map(({ message, locations }) => `line ${locations?.[0]?.line}: ${message}`).join("\n"));
  const nameless = document.definitions.find((found) => found.kind === Kind.OPERATION_DEFINITION && !found.name);
  if (nameless) throw new Error("each operation needs a name, since its types are called by it");
}

function operationParts(schema: GraphQLSchema, document: DocumentNode, scalars: Record<string, string>): string[] {
  const fragments = new Map(document.definitions.flatMap((found) => (found.kind === Kind.FRAGMENT_DEFINITION ? [[found.name.value, found] as const] : [])));
  return document.definitions.flatMap((found) => (found.kind === Kind.OPERATION_DEFINITION ? [operationPart(schema, found, fragments, scalars)] : []));
}

function operationPart(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Map<string, FragmentDefinitionNode>, scalars: Record<string, string>): string {
  const name = capital(operation.name?.value ?? "");
  const root = schema.getRootType(operation.operation);
  if (!root) throw new Error(`the schema has no ${operation.operation}`);
  const result = selectionType({ schema, fragments, scalars }, root, [operation.selectionSet], "");
  const variables = (operation.variableDefinitions ?? []).map((variable) => {
    const { text, isOptional } = typeOfVariable(variable.type, scalars);
    return `  ${variable.variable.name.value}${isOptional || variable.defaultValue ? "?" : ""}: ${text};\n`;
  });
  const text = [operation, ...fragmentsOf(operation, fragments)].map(print).join("\n");
  return [
    `export interface ${name}Variables {\n${variables.join("")}}`,
    `export type ${name}Result = ${result};`,
    `export const ${name}: TypedDocument<${name}Result, ${name}Variables> = typed(${JSON.stringify(text.replace(/\s+/g, " "))});`,
  ].join("\n\n");
}

/** The fragments that an operation needs, also by way of others, in the order of the document. */
function fragmentsOf(operation: OperationDefinitionNode, fragments: Map<string, FragmentDefinitionNode>): FragmentDefinitionNode[] {
  const needed = new Set<string>();
  const look = (text: string) => {
    for (const [, name = ""] of text.matchAll(/\.\.\.\s*(\w+)/g)) {
      const fragment = fragments.get(name);
      if (!fragment || needed.has(name)) continue;
      needed.add(name);
      look(print(fragment));
    }
  };
  look(print(operation));
  return [...fragments.values()].filter(({ name }) => needed.has(name.value));
}

/** The declared types that a text names, also by way of each other, in the order of the schema. */
function usedNames(text: string, declared: Map<string, string>): Map<string, string> {
  const needed = new Set<string>();
  const look = (part: string) => {
    for (const [name] of part.matchAll(/\b[A-Za-z_]\w*\b/g)) {
      const declaration = declared.get(name);
      if (declaration === undefined || needed.has(name)) continue;
      needed.add(name);
      look(declaration);
    }
  };
  look(text.replace(/"(?:\\.|[^"\\])*"/g, ""));
  return new Map([...declared].filter(([name]) => needed.has(name)));
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
