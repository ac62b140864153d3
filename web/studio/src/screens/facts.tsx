// Facts: an entity with its timeline, why each fact is believed, both clocks, and entities that may be the same.
import { useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type Timeline, type TimelineFact, layOutTimeline } from "../model/timeline.ts";
import { shorten } from "../model/scene.ts";
import { attempt, canWrite, overview, palette, route, setParams } from "../state/app.ts";
import { readNodes } from "../state/graphs.ts";
import { texts } from "../texts.ts";
import { openNode } from "../ui/searchBox.tsx";
import { Async, Button, Dialog, Tabs, formatTime, useLoad } from "../ui/widgets.tsx";

interface Entity {
  entityId: string;
  canonical: string;
  kind: string | null;
  aliases: { alias: string }[];
  node?: { id: string } | null;
}

export interface Fact {
  factId: string;
  predicate: string;
  scope: string;
  objectValue: string | null;
  objectEntity: { entityId: string; canonical: string } | null;
  subject: { entityId: string; canonical: string };
  validFrom: string;
  validTo: string | null;
  state: keyof typeof texts.facts.states;
  createdAt: string;
  evidenceCount: number;
  supersededBy: { toFact: { factId: string } }[];
}

export function FactsScreen() {
  const tab = route.value.params.list === "duplicates" ? "duplicates" : "entities";
  const setTab = (key: "entities" | "duplicates") => setParams({ list: key === "entities" ? "" : key });
  const chosen = route.value.params.entity;
  return (
    <div class="facts-screen">
      <aside class="entity-side" aria-label={texts.facts.label}>
        <Tabs label={texts.facts.label} choices={[{ key: "entities", label: texts.facts.label }, { key: "duplicates", label: texts.facts.duplicates }]} chosen={tab} choose={setTab} />
        {tab === "entities" ? <EntityList /> : <Duplicates />}
      </aside>
      <section class="fact-side" aria-label={texts.screens.facts}>
        {chosen ? <EntityPage key={chosen} id={chosen} /> : <p class="nothing">{texts.facts.choose}</p>}
      </section>
    </div>
  );
}

interface EntityPageAnswer {
  entities: { nodes: Entity[]; totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
}

function EntityList() {
  const [search, setSearch] = useState(route.peek().params.search ?? "");
  const [after, setAfter] = useState<string | null>(null);
  const [before, setBefore] = useState<Entity[]>([]);
  const loaded = useLoad(() => ask<EntityPageAnswer>(documents.entities, { search: search.trim() || null, after }), [search, after]);
  const type = (text: string) => {
    setSearch(text);
    setAfter(null);
    setBefore([]);
    setParams({ search: text });
  };
  return (
    <>
      <input type="search" class="block-input" aria-label={texts.facts.search} placeholder={texts.facts.search} value={search} onInput={(event) => type(event.currentTarget.value)} />
      <Async of={loaded}>
        {({ entities }) => {
          const shown = [...before, ...entities.nodes];
          if (shown.length === 0) return <p class="nothing">{texts.facts.none}</p>;
          return (
            <>
              <ul class="choice-list">
                {shown.map((entity) => (
                  <li key={entity.entityId}>
                    <button type="button" aria-pressed={route.value.params.entity === entity.entityId} onClick={() => setParams({ entity: entity.entityId, fact: "" })}>
                      <span class="dot" style={{ background: palette.colourOf(entity.kind ?? "") }} /><bdi>{entity.canonical}</bdi><small><bdi>{entity.kind}</bdi></small>
                    </button>
                  </li>
                ))}
              </ul>
              {entities.pageInfo.hasNextPage && <Button onClick={() => { setBefore(shown); setAfter(entities.pageInfo.endCursor); }}>{texts.more}</Button>}
            </>
          );
        }}
      </Async>
    </>
  );
}

function EntityPage({ id }: { id: string }) {
  const { known = "", true: trueAt = "", fact = "" } = route.value.params;
  const at = known === "" ? null : { position: Number(known) };
  const loaded = useLoad(() => ask<{ factTimeline: Fact[] }>(documents.entityTimeline, { id, at }), [id, known, overview.value?.stats.events]);
  const instant = trueAt ? Date.parse(`${trueAt}Z`) : Date.now();
  return (
    <Async of={loaded}>
      {({ factTimeline: facts }) => (
        <>
          <EntityHead facts={facts} id={id} />
          <Clocks known={known} trueAt={trueAt} />
          {facts.length === 0 ? <p class="nothing">{texts.facts.noFacts}</p> : <TimelineView timeline={layOutTimeline(facts.map(toTimelineFact), Date.now())} instant={instant} chosen={fact} choose={(factId) => setParams({ fact: factId })} />}
          {facts.length > 0 && <TrueThen facts={facts} instant={instant} />}
          {fact && <WhyPanel key={fact} id={fact} />}
        </>
      )}
    </Async>
  );
}

function toTimelineFact(fact: Fact): TimelineFact {
  return {
    factId: fact.factId,
    predicate: fact.predicate,
    object: fact.objectEntity?.canonical ?? fact.objectValue ?? "",
    validFrom: Date.parse(fact.validFrom),
    validTo: fact.validTo ? Date.parse(fact.validTo) : null,
    createdAt: Date.parse(fact.createdAt),
    supersededBy: fact.supersededBy.map(({ toFact }) => toFact.factId),
    state: fact.state,
  };
}

function EntityHead({ facts, id }: { facts: Fact[]; id: string }) {
  const name = facts[0]?.subject.canonical ?? null;
  const loaded = useLoad(async () => (name ? (await ask<{ entity: Entity | null }>(documents.entity, { search: name })).entity : null), [name, id]);
  const entity = loaded.data;
  const open = (node: string) => attempt(async () => { for (const found of await readNodes([node])) await openNode(found); });
  return (
    <header class="entity-head">
      <h2><bdi>{name ?? texts.facts.label}</bdi></h2>
      {entity && entity.aliases.length > 0 && <p class="hint">{texts.facts.aliases} <bdi>{entity.aliases.map(({ alias }) => alias).join(", ")}</bdi></p>}
      {entity?.node && <Button icon="explore" onClick={() => void open(entity.node?.id as string)}>{texts.facts.toNode}</Button>}
    </header>
  );
}

function Clocks({ known, trueAt }: { known: string; trueAt: string }) {
  const last = overview.value?.stats.events ?? 0;
  return (
    <div class="clocks">
      <label>{texts.facts.true}<input type="datetime-local" value={trueAt} onInput={(event) => setParams({ true: event.currentTarget.value })} /></label>
      <label>{texts.facts.known}<input type="number" min={0} max={last} value={known} placeholder={`${texts.facts.now} (${last})`} onChange={(event) => setParams({ known: event.currentTarget.value })} /></label>
      {(known || trueAt) && <Button kind="quiet" onClick={() => setParams({ known: "", true: "" })}>{texts.facts.reset}</Button>}
    </div>
  );
}

const ROW = 34;
const WIDTH = 1000;
const LABELS = 170;

function TimelineView({ timeline, instant, chosen, choose }: { timeline: Timeline; instant: number; chosen: string; choose: (id: string) => void }) {
  const height = timeline.rows * ROW + 40;
  const x = (share: number) => LABELS + share * (WIDTH - LABELS - 10);
  const now = (instant - timeline.from) / (timeline.to - timeline.from);
  const tops = new Map(timeline.lanes.flatMap((lane) => lane.bars.map((bar) => [bar, lane.top] as const)));
  const y = (bar: Timeline["lanes"][number]["bars"][number]) => 8 + ((tops.get(bar) ?? 0) + bar.row) * ROW;
  return (
    <div class="timeline">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="group" aria-label={texts.facts.timeline}>
        {timeline.ticks.map((tick) => <g key={tick.at}><line class="tick" x1={x(tick.left)} x2={x(tick.left)} y1="0" y2={height - 24} /><text class="tick-label" x={x(tick.left)} y={height - 8}>{tick.label}</text></g>)}
        {timeline.lanes.map((lane, at) => (
          <g key={lane.predicate}>
            {at % 2 === 0 && <rect class="lane" x="0" width={WIDTH} y={4 + lane.top * ROW} height={lane.rows * ROW} />}
            <text class="lane-name" x="10" y={8 + lane.top * ROW + 18}>{shorten(lane.predicate, 22)}</text>
          </g>
        ))}
        {now >= 0 && now <= 1 && <line class="now" x1={x(now)} x2={x(now)} y1="0" y2={height - 24} />}
        {timeline.lanes.flatMap((lane) => lane.bars).map((bar) => (
          <g key={bar.fact.factId} class={`bar ${bar.fact.state.toLowerCase()} ${bar.fact.factId === chosen ? "chosen" : ""} ${bar.open ? "open" : ""}`} role="button" tabindex={0} aria-pressed={bar.fact.factId === chosen}
            aria-label={`${bar.fact.predicate}: ${bar.fact.object}, ${texts.facts.since} ${formatTime(bar.fact.validFrom)}`} onClick={() => choose(bar.fact.factId)} onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && choose(bar.fact.factId)}>
            <rect x={x(bar.left)} width={Math.max(x(bar.left + bar.width) - x(bar.left), 6)} y={y(bar)} height={ROW - 8} rx="6" />
            <text x={Math.min(x(bar.left) + 9, WIDTH - 120)} y={y(bar) + 17}>{shorten(bar.fact.object, Math.max(Math.floor((bar.width * (WIDTH - LABELS)) / 7.5), 12))}</text>
          </g>
        ))}
        {timeline.arrows.map(({ from, to }, at) => <path key={at} class="supersedes" d={`M${x(from.left + from.width)} ${y(from) + 13} C${x(from.left + from.width) + 24} ${y(from) + 13}, ${x(to.left) - 24} ${y(to) + 13}, ${x(to.left)} ${y(to) + 13}`} />)}
      </svg>
    </div>
  );
}

/** The facts that hold at the chosen instant, as a list. */
function TrueThen({ facts, instant }: { facts: Fact[]; instant: number }) {
  const held = facts.filter((fact) => Date.parse(fact.validFrom) <= instant && (fact.validTo === null || Date.parse(fact.validTo) > instant));
  return (
    <section class="true-then">
      <h3>{texts.facts.true} {formatTime(instant)}</h3>
      <ul class="plain-list">{held.map((fact) => <li key={fact.factId}><strong><bdi>{fact.predicate}</bdi></strong> <bdi>{fact.objectEntity?.canonical ?? fact.objectValue}</bdi> <small>{texts.facts.since} {formatTime(fact.validFrom).slice(0, 10)}</small></li>)}</ul>
    </section>
  );
}

interface Reasons {
  whyFact: {
    fact: Fact;
    invalidationReason: string | null;
    notes: { noteId: string; text: string; source: string | null; createdAt: string; agentId: string | null }[];
    replaced: { fact: Fact }[];
    replacedBy: { fact: Fact }[];
    events: { seq: number; timestamp: number; type: string; by: string | null }[];
  };
}

function WhyPanel({ id }: { id: string }) {
  const loaded = useLoad(() => ask<Reasons>(documents.whyFact, { id }), [id]);
  return (
    <section class="why" aria-label={texts.facts.why}>
      <header><h3>{texts.facts.why}</h3><Button kind="quiet" icon="close" label={texts.close} onClick={() => setParams({ fact: "" })} /></header>
      <Async of={loaded}>
        {({ whyFact: { fact, notes, replaced, replacedBy, events, invalidationReason } }) => (
          <>
            <p class="statement"><bdi>{fact.subject.canonical}</bdi> <strong><bdi>{fact.predicate}</bdi></strong> <bdi>{fact.objectEntity?.canonical ?? fact.objectValue}</bdi> <small>{texts.facts.states[fact.state]}, {texts.facts.since} {formatTime(fact.validFrom)}{fact.validTo && `, ${texts.facts.until} ${formatTime(fact.validTo)}`}</small></p>
            {invalidationReason && <p class="wrong">{texts.facts.invalid} <bdi>{invalidationReason}</bdi></p>}
            <h4>{texts.facts.notes}</h4>
            {notes.length === 0 ? <p class="nothing">{texts.facts.noNotes}</p> : <ul class="notes">{notes.map((note) => <li key={note.noteId}><blockquote dir="auto">{note.text}</blockquote><small><bdi>{note.source ?? note.agentId}</bdi> · {formatTime(note.createdAt)}</small></li>)}</ul>}
            <Chain title={texts.facts.replaced} facts={replaced} />
            <Chain title={texts.facts.replacedBy} facts={replacedBy} />
            <h4>{texts.facts.history}</h4>
            <ul class="plain-list">{events.map((event) => <li key={event.seq}><strong>{event.type}</strong> <small>{formatTime(event.timestamp)} · {texts.live.by} <bdi>{event.by ?? texts.live.local}</bdi></small></li>)}</ul>
            {canWrite.value && fact.validTo === null && <EndFact id={fact.factId} />}
          </>
        )}
      </Async>
    </section>
  );
}

function Chain({ title, facts }: { title: string; facts: { fact: Fact }[] }) {
  if (facts.length === 0) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul class="plain-list">{facts.map(({ fact }) => <li key={fact.factId}><Button kind="quiet" onClick={() => setParams({ fact: fact.factId })}><bdi>{fact.objectEntity?.canonical ?? fact.objectValue}</bdi></Button> <small>{texts.facts.since} {formatTime(fact.validFrom).slice(0, 10)}</small></li>)}</ul>
    </>
  );
}

function EndFact({ id }: { id: string }) {
  const [reason, setReason] = useState("");
  const end = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      await ask(documents.invalidateFact, { id, reason: reason.trim() || null });
      setParams({ fact: "" });
    });
  };
  return (
    <form class="row-form" onSubmit={end}>
      <label>{texts.facts.endReason}<input value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
      <Button type="submit" kind="danger">{texts.facts.end}</Button>
    </form>
  );
}

interface Pair {
  reason: string;
  first: { entityId: string; canonical: string };
  second: { entityId: string; canonical: string };
}

function Duplicates() {
  const loaded = useLoad(() => ask<{ duplicateEntities: Pair[] }>(documents.duplicates), []);
  const [pair, setPair] = useState<Pair | null>(null);
  return (
    <Async of={loaded}>
      {({ duplicateEntities }) => (
        <>
          {duplicateEntities.length === 0 && <p class="nothing">{texts.facts.noDuplicates}</p>}
          <ul class="plain-list">{duplicateEntities.map((found) => <li key={found.first.entityId + found.second.entityId}><bdi>{found.first.canonical}</bdi> ≈ <bdi>{found.second.canonical}</bdi> <small>{found.reason}</small> <Button onClick={() => setPair(found)}>{texts.facts.preview}</Button></li>)}</ul>
          {pair && <MergeDialog pair={pair} close={() => setPair(null)} done={() => { setPair(null); loaded.reload(); }} />}
        </>
      )}
    </Async>
  );
}

interface Preview {
  mergePreview: { aliases: string[]; moved: Fact[]; folded: { fact: Fact }[]; conflicts: Fact[] };
}

function MergeDialog({ pair, close, done }: { pair: Pair; close: () => void; done: () => void }) {
  const variables = { keep: pair.first.entityId, merge: pair.second.entityId };
  const loaded = useLoad(() => ask<Preview>(documents.mergePreview, variables), [variables.keep, variables.merge]);
  const merge = () => attempt(async () => { await ask(documents.merge, variables); done(); });
  return (
    <Dialog title={texts.facts.merge(pair.second.canonical, pair.first.canonical)} close={close}>
      <div class="form">
        <Async of={loaded}>
          {({ mergePreview: { aliases, moved, folded, conflicts } }) => (
            <>
              <FactLines title={texts.facts.moved} facts={moved} />
              <FactLines title={texts.facts.folded} facts={folded.map(({ fact }) => fact)} />
              <FactLines title={texts.facts.conflicts} facts={conflicts} />
              <h4>{texts.facts.names}</h4>
              <p><bdi>{aliases.join(", ") || texts.none}</bdi></p>
            </>
          )}
        </Async>
        <footer><Button onClick={close}>{texts.cancel}</Button>{canWrite.value && <Button kind="main" onClick={() => void merge()}>{texts.facts.merge(pair.second.canonical, pair.first.canonical)}</Button>}</footer>
      </div>
    </Dialog>
  );
}

function FactLines({ title, facts }: { title: string; facts: Fact[] }) {
  return (
    <>
      <h4>{title} ({facts.length})</h4>
      <ul class="plain-list">{facts.slice(0, 30).map((fact) => <li key={fact.factId}><strong><bdi>{fact.predicate}</bdi></strong> <bdi>{fact.objectEntity?.canonical ?? fact.objectValue}</bdi></li>)}</ul>
    </>
  );
}
