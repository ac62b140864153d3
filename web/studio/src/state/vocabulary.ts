// Names that forms offer: property names, and the types that ontologies allow.
import { computed, signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import type { ConnectionType } from "../model/diagram.ts";
import { report } from "./app.ts";

export interface PropertyDefinition {
  name: string;
  kind: string;
  required: boolean;
  enum: unknown[];
  pattern: string | null;
  description: string;
}

export interface Ontology {
  name: string;
  nodeTypes: string[];
  connectionTypes: ConnectionType[];
  enforcement: "OFF" | "WARN" | "STRICT";
  createdAt: string;
  yaml: string;
  properties: { owner: string; type: string; definitions: PropertyDefinition[] }[];
}

const ontologies = signal<Ontology[]>([]);
const propertyKeys = signal<string[]>([]);

async function load(): Promise<void> {
  try {
    const answer = await ask<{ propertyKeys: string[]; ontologies: Ontology[] }>(documents.vocabulary);
    ontologies.value = answer.ontologies;
    propertyKeys.value = answer.propertyKeys;
  } catch (error) {
    report(error);
  }
}

export const vocabulary = {
  load,
  ontologies,
  propertyKeys,
  nodeTypes: computed(() => ontologies.value.flatMap((ontology) => ontology.nodeTypes)),
  connectionTypes: computed(() => ontologies.value.flatMap((ontology) => ontology.connectionTypes.map((type) => type.name))),
};
