// Names that forms offer: property names, and the types that ontologies allow.
import { computed, signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import type { Ontology } from "../model/rules.ts";
import { report } from "./app.ts";

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
};
