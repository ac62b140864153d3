// Scalars, enums and inputs of a schema as TypeScript.
import { type GraphQLInputType, type GraphQLSchema, type TypeNode, Kind, isEnumType, isInputObjectType, isListType, isNonNullType, isScalarType } from "graphql";

/** Scalars of GraphQL and of the gateway; others are `unknown`. */
const SCALARS: Record<string, string> = {
  ID: "string", String: "string", Int: "number", Float: "number", Boolean: "boolean",
  JSON: "Json", Millis: "number", Position: "number", DateTime: "string", UUID: "string",
};

export function scalarTypes(schema: GraphQLSchema): Record<string, string> {
  const scalars = Object.values(schema.getTypeMap()).filter(isScalarType);
  return Object.fromEntries(scalars.map(({ name }) => [name, SCALARS[name] ?? "unknown"]));
}

/** Declarations of enums and inputs by their names. */
export function inputTypes(schema: GraphQLSchema, scalars: Record<string, string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith("__")) continue;
    if (isEnumType(type)) found.set(type.name, `export type ${type.name} = ${type.getValues().map(({ name }) => JSON.stringify(name)).join(" | ")};`);
    if (!isInputObjectType(type)) continue;
    const fields = Object.values(type.getFields()).map((field) => {
      const isRequired = isNonNullType(field.type) && field.defaultValue === undefined;
      return `${comment(field.description)}  ${field.name}${isRequired ? "" : "?"}: ${typeOfInput(field.type, scalars)};\n`;
    });
    found.set(type.name, `export interface ${type.name} {\n${fields.join("")}}`);
  }
  return found;
}

function comment(description: string | null | undefined): string {
  return description ? `  /** ${description.replace(/\s+/g, " ").replaceAll("*/", "*\\/")} */\n` : "";
}

function typeOfInput(type: GraphQLInputType, scalars: Record<string, string>): string {
  if (isNonNullType(type)) return withoutNull(type.ofType as GraphQLInputType, scalars);
  return `${withoutNull(type, scalars)} | null`;
}

function withoutNull(type: GraphQLInputType, scalars: Record<string, string>): string {
  if (isListType(type)) return `Array<${typeOfInput(type.ofType as GraphQLInputType, scalars)}>`;
  return "name" in type ? (scalars[type.name] ?? type.name) : "unknown";
}

export function typeOfVariable(type: TypeNode, scalars: Record<string, string>): { text: string; isOptional: boolean } {
  if (type.kind === Kind.NON_NULL_TYPE) return { text: typeOfNode(type.type, scalars), isOptional: false };
  return { text: `${typeOfNode(type, scalars)} | null`, isOptional: true };
}

function typeOfNode(type: TypeNode, scalars: Record<string, string>): string {
  if (type.kind === Kind.NON_NULL_TYPE) return typeOfNode(type.type, scalars);
  if (type.kind === Kind.LIST_TYPE) {
    const { text } = typeOfVariable(type.type, scalars);
    return `Array<${text}>`;
  }
  return scalars[type.name.value] ?? type.name.value;
}
