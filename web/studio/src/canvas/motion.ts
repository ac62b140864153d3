// Whether the machine keeps up with a picture that is moved. Where it does not, less is drawn until it rests.

/** Below 25 frames a second, a movement is seen to stutter. */
const SLOW_MS = 40;
const MEASURED_FRAMES = 4;

export class FrameClock {
  private times: number[] = [];

  /** Note a frame. Says whether the last few were slow; a pause between two movements is none. */
  note(time: number): boolean {
    this.times = [...this.times, time].slice(-MEASURED_FRAMES - 1);
    const first = this.times[0] as number;
    return this.times.length > MEASURED_FRAMES && (time - first) / MEASURED_FRAMES > SLOW_MS;
  }

  /** The picture rests: the time until it moves again counts for nothing. */
  rest(): void {
    this.times = [];
  }
}
