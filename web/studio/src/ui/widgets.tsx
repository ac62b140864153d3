// Small parts that all screens use.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import type { Json } from "../model/types.ts";
import { palette } from "../state/app.ts";
import { texts } from "../texts.ts";
import { Icon, type IconName } from "./icons.tsx";

export interface Loaded<T> {
  data: T | null;
  error: GatewayError | null;
  loading: boolean;
  reload: () => void;
}

/** Load something when `keys` change; what is shown stays until the new answer is there. */
export function useLoad<T>(load: () => Promise<T>, keys: unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ data: null, error: null, loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let current = true;
    setState((before) => ({ ...before, loading: true }));
    load().then(
      (data) => current && setState({ data, error: null, loading: false }),
      (error) => current && setState((before) => ({ ...before, error: toGatewayError(error), loading: false })),
    );
    return () => {
      current = false;
    };
  }, [...keys, turn]);
  return { ...state, reload: () => setTurn((count) => count + 1) };
}

export function Loading() {
  return (
    <p class="loading" role="status">
      {texts.loading}
    </p>
  );
}

export function ErrorBox({ error, retry }: { error: GatewayError; retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <strong>{error.message}</strong>
      {error.advice && <p>{error.advice}</p>}
      {retry && <Button onClick={retry}>{texts.retry}</Button>}
    </div>
  );
}

/** Loading, an error with a way to try again, or the content. */
export function Async<T>({ of, children }: { of: Loaded<T>; children: (data: T) => VNode }) {
  if (of.error) return <ErrorBox error={of.error} retry={of.reload} />;
  return of.data === null ? <Loading /> : children(of.data);
}

interface ButtonProps {
  onClick?: () => void;
  kind?: "plain" | "main" | "danger" | "quiet";
  icon?: IconName;
  label?: string;
  disabled?: boolean;
  pressed?: boolean;
  type?: "button" | "submit";
  children?: ComponentChildren;
}

export function Button({ onClick, kind = "plain", icon, label, disabled, pressed, type = "button", children }: ButtonProps) {
  return (
    <button type={type} class={`button ${kind}`} onClick={onClick} disabled={disabled} aria-label={label} title={label} aria-pressed={pressed}>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

export function TypeBadge({ type }: { type: string | null }) {
  return (
    <span class="type-badge">
      <span class="dot" style={{ background: palette.colourOf(type ?? "") }} />
      <bdi>{type ?? texts.untyped}</bdi>
    </span>
  );
}

export interface TabChoice<K extends string> {
  key: K;
  label: string;
  count?: number | undefined;
}

export function Tabs<K extends string>({ label, choices, chosen, choose }: { label: string; choices: TabChoice<K>[]; chosen: K; choose: (key: K) => void }) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = choices.findIndex((choice) => choice.key === chosen);
    const next = choices[(at + step + choices.length) % choices.length];
    if (next) choose(next.key);
    const list = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => list.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {choices.map(({ key, label: name, count }) => (
        <button type="button" role="tab" key={key} data-tab={key} aria-selected={key === chosen} tabIndex={key === chosen ? 0 : -1} onClick={() => choose(key)}>
          {name}
          {count !== undefined && <small>{count.toLocaleString("en")}</small>}
        </button>
      ))}
    </div>
  );
}

export function Dialog({ title, close, children }: { title: string; close?: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    // The browser would choose the button that closes it.
    box.current?.querySelector<HTMLElement>(".form input:not([type=file]), .form select, .form textarea")?.focus();
    return () => before?.focus?.();
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    close?.();
  };
  return (
    <dialog ref={box} class="dialog" aria-label={title} onCancel={cancel}>
      <header>
        <h2>{title}</h2>
        {close && <Button kind="quiet" icon="close" label={texts.close} onClick={close} />}
      </header>
      {children}
    </dialog>
  );
}

export function Value({ value }: { value: Json }) {
  if (typeof value === "string") return <bdi class="value text">{value}</bdi>;
  if (value === null || typeof value !== "object") return <span class="value literal">{String(value)}</span>;
  return <pre class="value json">{JSON.stringify(value, null, 2)}</pre>;
}

export function JsonView({ value }: { value: unknown }) {
  return (
    <pre class="json-view" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

export function formatTime(time: number | string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 19).replace("T", " ");
}

/** Hand somebody a file. */
export function download(name: string, content: Blob | string, type = "application/json"): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
