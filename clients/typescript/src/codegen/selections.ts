// What a selection comes back as. Of an interface or a union it is one shape for each possible type, if they differ.
import {
  type FieldNode, type FragmentDefinitionNode, type GraphQLCompositeType, type GraphQLObjectType, type GraphQLOutputType, type GraphQLSchema, type SelectionSetNode,
  Kind, getNamedType, isAbstractType, isCompositeType, isEnumType, isListType, isNonNullType,
} from "graphql";

export interface SelectionContext {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  scalars: Record<string, string>;
}

export function selectionType(context: SelectionContext, type: GraphQLCompositeType, sets: SelectionSetNode[], indent: string): string {
  const possible = isAbstractType(type) ? context.schema.getPossibleTypes(type) : [type as GraphQLObjectType];
  const shapes = possible.map((object) => objectType(context, object, sets, indent));
  return [...new Set(shapes)].join(" | ");
}

function objectType(context: SelectionContext, type: GraphQLObjectType, sets: SelectionSetNode[], indent: string): string {
  const fields = new Map<string, FieldNode[]>();
  for (const set of sets) collect(context, type, set, fields);
  if (fields.size === 0) return "Record<string, never>";
  const inner = `${indent}  `;
  const lines = [...fields].map(([name, nodes]) => `${inner}${name}${isConditional(nodes) ? "?" : ""}: ${fieldType(context, type, nodes, inner)};`);
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function collect(context: SelectionContext, type: GraphQLObjectType, set: SelectionSetNode, fields: Map<string, FieldNode[]>): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      const name = selection.alias?.value ?? selection.name.value;
      fields.set(name, [...(fields.get(name) ?? []), selection]);
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? context.fragments.get(selection.name.value) : selection;
    if (!fragment) continue;
    const condition = fragment.typeCondition?.name.value;
    if (condition === undefined || applies(context, condition, type)) collect(context, type, fragment.selectionSet, fields);
  }
}

function applies({ schema }: SelectionContext, condition: string, type: GraphQLObjectType): boolean {
  const found = schema.getType(condition);
  return condition === type.name || (isAbstractType(found) && schema.isSubType(found, type));
}

/** `@include` and `@skip` may leave a field out. */
function isConditional(nodes: FieldNode[]): boolean {
  return nodes.every(({ directives }) => directives?.some(({ name }) => name.value === "include" || name.value === "skip"));
}

function fieldType(context: SelectionContext, type: GraphQLObjectType, nodes: FieldNode[], indent: string): string {
  const name = nodes[0]?.name.value ?? "";
  if (name === "__typename") return JSON.stringify(type.name);
  const field = type.getFields()[name];
  if (!field) return "unknown";
  const named = getNamedType(field.type);
  const sets = nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []));
  const inner = isCompositeType(named) ? selectionType(context, named, sets, indent) : isEnumType(named) ? enumType(named.getValues().map((value) => value.name)) : (context.scalars[named.name] ?? "unknown");
  return wrap(field.type, inner);
}

function enumType(names: string[]): string {
  return names.map((name) => JSON.stringify(name)).join(" | ");
}

function wrap(type: GraphQLOutputType, inner: string): string {
  if (isNonNullType(type)) return wrapList(type.ofType as GraphQLOutputType, inner);
  return `${wrapList(type, inner)} | null`;
}

function wrapList(type: GraphQLOutputType, inner: string): string {
  return isListType(type) ? `Array<${wrap(type.ofType as GraphQLOutputType, inner)}>` : inner;
}

