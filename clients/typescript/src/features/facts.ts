// Facts: what is true of whom, since when and why, and what is worth recalling for a question.
import type { Client, RequestOptions } from "../client.ts";
import {
  AddFact, type AddFactInput, type AddFactResult, type EntityRef, Ingest, type IngestInput, InvalidateFact, type InvalidateFactVariables, Recall, type RecallResult, type RecallVariables,
  Timeline, type TimelineResult, type TimelineVariables, WhyFact, type WhyFactResult,
} from "../generated/operations.ts";

export type Fact = TimelineResult["factTimeline"][number];

export class Facts {
  constructor(private readonly client: Client) {}

  /** State a fact with the notes that say so. A newer one of a single-valued predicate ends the older one. */
  async add(input: AddFactInput, options?: RequestOptions): Promise<AddFactResult["addFact"]> {
    return (await this.client.mutate(AddFact, { input }, options)).addFact;
  }

  async invalidate(factId: string, { validTo = null, reason = null }: Omit<InvalidateFactVariables, "factId"> = {}, options?: RequestOptions): Promise<Fact> {
    return (await this.client.mutate(InvalidateFact, { factId, validTo, reason }, options)).invalidateFact.fact;
  }

  /** Keep notes with the entities and relations that were read out of them. */
  async ingest(input: IngestInput, options?: RequestOptions): Promise<Fact[]> {
    return (await this.client.mutate(Ingest, { input }, options)).ingest.facts;
  }

  /** All facts of a subject, also those that have ended; `at` is what the log knew then. */
  async timeline(subject: EntityRef, { at = null, first = 200 }: Omit<TimelineVariables, "subject"> = {}): Promise<Fact[]> {
    return (await this.client.query(Timeline, { subject, at, first })).factTimeline;
  }

  async why(factId: string): Promise<WhyFactResult["whyFact"]> {
    return (await this.client.query(WhyFact, { factId })).whyFact;
  }

  /** Facts and notes that help with a question, within a budget of tokens. */
  async recall(query: string, { budgetTokens = 2000, first = 20, ...wanted }: Partial<Omit<RecallVariables, "query">> = {}): Promise<RecallResult["recall"]> {
    return (await this.client.query(Recall, { query, budgetTokens, first, ...wanted })).recall;
  }
}
