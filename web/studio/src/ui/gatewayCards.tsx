// What the gateway tells of itself: settings with their origin, tenants, and the end of its log.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import type { Json } from "../model/types.ts";
import { texts } from "../texts.ts";
import { Async, Button, useLoad } from "./widgets.tsx";

interface Setting {
  name: string;
  value: Json;
  origin: string;
  meaning: string;
}

interface GatewayAnswer {
  gateway: { version: string; settings: Setting[]; tenants: { name: string; store: string; events: number }[] } | null;
}

const BUILT_IN = "built in";
const LOG_LINES = 100;
const LOG_MS = 3_000;

export function GatewayCards() {
  const loaded = useLoad(() => ask<GatewayAnswer>(documents.gateway), []);
  return (
    <Async of={loaded}>
      {({ gateway }) => gateway === null ? <p class="nothing">{texts.none}</p> : (
        <>
          <Tenants tenants={gateway.tenants} />
          <Settings settings={gateway.settings} />
          <LogTail />
        </>
      )}
    </Async>
  );
}

function Tenants({ tenants }: { tenants: { name: string; store: string; events: number }[] }) {
  return (
    <section class="card wide" aria-label={texts.admin.tenants}>
      <h2>{texts.admin.tenants}</h2>
      <p class="hint">{texts.admin.tenantsHint}</p>
      <table class="table">
        <thead><tr><th>{texts.admin.tenant}</th><th>{texts.admin.health}</th><th class="number">{texts.admin.eventCount}</th></tr></thead>
        <tbody>{tenants.map(({ name, store, events }) => <tr key={name}><td><bdi>{name}</bdi></td><td><bdi>{store}</bdi></td><td class="number">{events.toLocaleString("en")}</td></tr>)}</tbody>
      </table>
    </section>
  );
}

function Settings({ settings }: { settings: Setting[] }) {
  const [wanted, setWanted] = useState("");
  const [all, setAll] = useState(false);
  const words = wanted.trim().toLowerCase();
  const shown = settings.filter(({ name, meaning, origin }) => (all || words || origin !== BUILT_IN) && `${name} ${meaning}`.toLowerCase().includes(words));
  return (
    <section class="card wide settings" aria-label={texts.admin.settings}>
      <h2>{texts.admin.settings}</h2>
      <div class="actions">
        <input type="search" aria-label={texts.admin.findSetting} placeholder={texts.admin.findSetting} value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        <Button pressed={all} onClick={() => setAll(!all)}>{texts.admin.allSettings}</Button>
      </div>
      {shown.length === 0 ? <p class="nothing">{words ? texts.admin.noSetting : texts.admin.allBuiltIn}</p> : (
        <div class="scrolled" tabIndex={0} role="group" aria-label={texts.admin.settings}>
          <table class="table">
            <thead><tr><th>{texts.admin.setting}</th><th>{texts.admin.value}</th><th>{texts.admin.origin}</th><th>{texts.admin.meaning}</th></tr></thead>
            <tbody>{shown.map(({ name, value, origin, meaning }) => <tr key={name}><td><code>{name}</code></td><td><bdi>{value === "" ? texts.none : String(value)}</bdi></td><td><bdi>{origin}</bdi></td><td>{meaning}</td></tr>)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** The last lines, read again every few seconds while the page is looked at; the end stays in view unless it is scrolled. */
function LogTail() {
  const [following, setFollowing] = useState(true);
  const loaded = useLoad(() => ask<{ gateway: { log: string[] } | null }>(documents.gatewayLog, { last: LOG_LINES }), []);
  const box = useRef<HTMLPreElement>(null);
  const reload = useRef(loaded.reload);
  reload.current = loaded.reload;
  useEffect(() => {
    if (!following) return;
    const timer = setInterval(() => !document.hidden && reload.current(), LOG_MS);
    return () => clearInterval(timer);
  }, [following]);
  useEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [loaded.data, following]);
  return (
    <section class="card wide" aria-label={texts.admin.log}>
      <h2>{texts.admin.log}</h2>
      <div class="actions"><Button icon={following ? "pause" : "play"} onClick={() => setFollowing(!following)}>{following ? texts.admin.logPause : texts.admin.logFollow}</Button></div>
      <Async of={loaded}>
        {({ gateway }) => gateway === null || gateway.log.length === 0 ? <p class="nothing">{texts.admin.logEmpty}</p> : <pre ref={box} class="json-view log-tail" tabIndex={0}>{gateway.log.join("\n")}</pre>}
      </Async>
    </section>
  );
}
