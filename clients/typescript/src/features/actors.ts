// Actors: nodes that answer messages.
import type { Client, RequestOptions } from "../client.ts";
import { SendMessage, type SendMessageInput, type SendMessageResult } from "../generated/operations.ts";

export class Actors {
  constructor(private readonly client: Client) {}

  /** Send a message to a node and wait for its answer. However often it is sent, the node acts once. */
  async send(input: SendMessageInput, options?: RequestOptions): Promise<SendMessageResult["sendMessage"]> {
    return (await this.client.mutate(SendMessage, { input }, options)).sendMessage;
  }
}
