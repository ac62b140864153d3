// Events of the log, one line each, with their data on demand.
import type { LogEvent } from "../model/types.ts";
import { texts } from "../texts.ts";
import { Value, formatTime } from "./widgets.tsx";

export function EventList({ events, choose }: { events: LogEvent[]; choose?: (event: LogEvent) => void }) {
  return (
    <ol class="event-list">
      {events.map((event) => (
        <li key={event.seq} class={toneOf(event.type)}>
          <details>
            <summary>
              <span class="seq">{event.seq.toLocaleString("en")}</span>
              <strong>{event.type}</strong>
              {event.elementId && <code><bdi>{event.elementId}</bdi></code>}
              <time>{formatTime(event.timestamp)}</time>
            </summary>
            <p>{texts.live.by} <bdi>{event.by ?? texts.live.local}</bdi></p>
            {event.hidden ? <p>{texts.live.hidden}</p> : <Value value={event.data} />}
            {choose && event.elementId && <button type="button" class="button" onClick={() => choose(event)}>{texts.program.open}</button>}
          </details>
        </li>
      ))}
    </ol>
  );
}

function toneOf(type: string): string {
  if (/Added|Created|Registered|Stored/.test(type)) return "added";
  return /Deleted|Revoked|Invalidated/.test(type) ? "gone" : "changed";
}
