// Programs: run at once or step by step, and keep.
import type { Client, RequestOptions } from "../client.ts";
import {
  ListPrograms, type ListProgramsResult, RunProgram, type RunProgramResult, RunProgramSteps, type RunProgramStepsResult, type RunProgramVariables, SaveProgram, type SaveProgramInput,
  type SaveProgramResult,
} from "../generated/operations.ts";
import { pages } from "../pages.ts";
import type { SubscribeOptions } from "../streams/subscription.ts";

const PAGE = 50;

/** A program as text, or the number of one that is kept, with values for its parameters. */
export type ProgramToRun = RunProgramVariables;
export type StoredProgram = ListProgramsResult["programs"]["nodes"][number];

export class Programs {
  constructor(private readonly client: Client) {}

  async run(program: ProgramToRun, options?: RequestOptions): Promise<RunProgramResult["executeProgram"]> {
    return (await this.client.query(RunProgram, program, options)).executeProgram;
  }

  /** Each step when it is done, with the working graph that it left, and at last the result. A lost connection ends it. */
  async *steps(program: Omit<ProgramToRun, "at">, options?: SubscribeOptions): AsyncGenerator<RunProgramStepsResult["programRun"], void, undefined> {
    for await (const { programRun } of this.client.subscribe(RunProgramSteps, program, options)) yield programRun;
  }

  /** Keep a program. One that is not valid is not kept; `validation` says why. */
  async save(input: SaveProgramInput, options?: RequestOptions): Promise<SaveProgramResult["saveProgram"]> {
    return (await this.client.mutate(SaveProgram, { input }, options)).saveProgram;
  }

  list(): AsyncGenerator<StoredProgram, void, undefined> {
    return pages(async (after) => (await this.client.query(ListPrograms, { first: PAGE, after })).programs);
  }
}
