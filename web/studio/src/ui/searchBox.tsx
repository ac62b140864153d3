// The search at the top: suggestions by id, by words or likeness, and by the beginning of a name.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { NAMES, documents } from "../api/documents.ts";
import type { GraphNode } from "../model/types.ts";
import { attempt, go, report, route, started } from "../state/app.ts";
import { addNodes, countNeighbours, select } from "../state/workspace.ts";
import { texts } from "../texts.ts";
import { TypeBadge } from "./widgets.tsx";

const WAIT_MS = 160;
const MAX_SHOWN = 10;
const MAX_BEGUN = 6;

type Answer = {
  exact: GraphNode | null;
  words: { edges: { node: { node: GraphNode } }[] };
} & { [list in (typeof NAMES)[number] | `${(typeof NAMES)[number]}Upper`]?: { nodes: GraphNode[] } };

export async function suggest(text: string, likeness: boolean): Promise<GraphNode[]> {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  const mode = likeness ? "HYBRID" : "WORDS";
  const answer = await ask<Answer>(documents.suggest, { text, mode, id: text, prefix: text, upper, bothCases: upper !== text });
  const begun = NAMES.flatMap((key) => [...(answer[key]?.nodes ?? []), ...(answer[`${key}Upper`]?.nodes ?? [])]);
  const found = [...(answer.exact ? [answer.exact] : []), ...begun.slice(0, MAX_BEGUN), ...answer.words.edges.map((edge) => edge.node.node)];
  return [...new Map(found.map((node) => [node.id, node])).values()].slice(0, MAX_SHOWN);
}

export async function openNode(node: GraphNode): Promise<void> {
  if (route.peek().screen !== "explore") go("explore");
  await addNodes([node]);
  select(node.id);
  await countNeighbours(node.id);
}

export function SearchBox() {
  const [text, setText] = useState("");
  const [likeness, setLikeness] = useState(false);
  const [found, setFound] = useState<GraphNode[] | null>(null);
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  const list = useId();
  const box = useRef<HTMLInputElement>(null);
  // Whoever presses Enter while the suggestions are on their way waits for those: they are not asked for twice.
  const asked = useRef<{ text: string; likeness: boolean; answer: Promise<GraphNode[]> } | null>(null);
  const suggestOnce = (words: string) => {
    if (asked.current?.text !== words || asked.current.likeness !== likeness) asked.current = { text: words, likeness, answer: suggest(words, likeness) };
    const { answer } = asked.current;
    answer.catch(() => {
      if (asked.current?.answer === answer) asked.current = null;
    });
    return answer;
  };
  useEffect(() => {
    setAt(-1);
    if (!text.trim() || !started.peek()) return setFound(null);
    let current = true;
    const timer = setTimeout(() => {
      suggestOnce(text.trim()).then((nodes) => current && setFound(nodes), report);
    }, WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text, likeness]);
  useEffect(() => {
    const focusBox = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || typing) return;
      event.preventDefault();
      box.current?.focus();
    };
    window.addEventListener("keydown", focusBox);
    return () => window.removeEventListener("keydown", focusBox);
  }, []);
  const choose = async (node: GraphNode | undefined) => {
    const chosen = node ?? (await attempt(() => suggestOnce(text.trim())))?.[0];
    if (!chosen) return;
    setOpen(false);
    await attempt(() => openNode(chosen));
  };
  const press = (event: KeyboardEvent) => {
    const last = (found?.length ?? 0) - 1;
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, last));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") void choose(found?.[Math.max(at, 0)]);
    else if (event.key === "Escape") setOpen(false);
    else return;
    event.preventDefault();
  };
  const shown = open && found !== null;
  return (
    <div class="search" onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node) && setOpen(false)}>
      <input ref={box} type="search" role="combobox" list={undefined} aria-label={texts.search.label} aria-expanded={shown} aria-controls={list} aria-autocomplete="list" aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
        placeholder={texts.search.placeholder} value={text} onInput={(event) => { asked.current = null; setText(event.currentTarget.value); setOpen(true); }} onFocus={() => setOpen(true)} onKeyDown={press} />
      <label class="likeness" title={texts.search.likeness}>
        <input type="checkbox" checked={likeness} onChange={(event) => setLikeness(event.currentTarget.checked)} aria-label={texts.search.likeness} /> ≈
      </label>
      <ul id={list} role="listbox" aria-label={texts.search.suggestions} class="suggestions" hidden={!shown}>
        {found?.map((node, number) => (
          <li key={node.id} id={`${list}-${number}`} role="option" aria-selected={number === at} onMouseDown={(event) => { event.preventDefault(); void choose(node); }}>
            <bdi class="name">{node.label}</bdi>
            <TypeBadge type={node.type} />
            <small><bdi>{node.id}</bdi></small>
          </li>
        ))}
        {found?.length === 0 && <li class="nothing" role="option" aria-selected={false} aria-disabled="true">{texts.search.nothing}</li>}
      </ul>
    </div>
  );
}
