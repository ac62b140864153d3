// Counts the lines of a text that comes in parts of bytes.
const NEWLINE = 10;

export class LineCounter {
  count = 0;

  /** Count the line ends of a part; answers how many there were so far. */
  add(part: Uint8Array): number {
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) this.count += 1;
    return this.count;
  }
}
