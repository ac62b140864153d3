// Follows the log by a subscription, and takes it up again where it was lost: nothing twice, nothing left out.
import type { LogEvent } from "./types.ts";

export type LinkState = "connecting" | "live" | "lost" | "stopped";
export type Subscribe = (after: number, next: (event: LogEvent) => void, end: (error: Error | null) => void) => () => void;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;

export class Follower {
  private wait = FIRST_WAIT_MS;
  private stopStream: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private turn = 0;
  state: LinkState = "stopped";

  constructor(
    private readonly subscribe: Subscribe,
    private readonly deliver: (event: LogEvent) => void,
    private readonly tell: (state: LinkState) => void,
    public position = 0,
  ) {}

  start(): void {
    this.stop();
    this.wait = FIRST_WAIT_MS;
    this.connect();
  }

  stop(): void {
    this.turn += 1;
    if (this.timer) clearTimeout(this.timer);
    this.stopStream?.();
    [this.timer, this.stopStream] = [null, null];
    this.become("stopped");
  }

  private connect(): void {
    const turn = ++this.turn;
    this.become("connecting");
    this.stopStream = this.subscribe(
      this.position,
      (event) => this.take(turn, event),
      () => this.lose(turn),
    );
    // A quiet log sends nothing, so a link that has not failed for a moment counts as live.
    this.timer = setTimeout(() => turn === this.turn && this.become("live"), FIRST_WAIT_MS);
  }

  private take(turn: number, event: LogEvent): void {
    if (turn !== this.turn || event.seq <= this.position) return;
    this.position = event.seq;
    this.wait = FIRST_WAIT_MS;
    this.become("live");
    this.deliver(event);
  }

  private lose(turn: number): void {
    if (turn !== this.turn) return;
    this.turn += 1;
    if (this.timer) clearTimeout(this.timer);
    this.become("lost");
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }

  private become(state: LinkState): void {
    if (state === this.state) return;
    this.state = state;
    this.tell(state);
  }
}
