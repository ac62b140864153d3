// What the whole page knows: where it is, who asks, how large the store is, and what went wrong.
import { computed, signal } from "@preact/signals";
import { ask, onAnswer, setToken, token } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { type Route, type Screen, formatRoute, parseRoute } from "../model/route.ts";
import type { Json, Stats } from "../model/types.ts";
import { Palette } from "../model/palette.ts";

export interface Overview {
  backend: { name: string; kind: string; version: string | null; state: string; capabilities: string[] };
  stats: Stats;
}

export interface Notice {
  id: number;
  kind: "error" | "info";
  title: string;
  advice: string;
}

export type Role = "reader" | "writer" | "admin";

export const route = signal<Route>(parseRoute(location.hash));
export const overview = signal<Overview | null>(null);
export const role = signal<Role>("reader");
export const loginWanted = signal<"no" | "yes" | "wrong">("no");
export const started = signal(false);
export const startError = signal<GatewayError | null>(null);
export const notices = signal<Notice[]>([]);
export const latencies = signal<number[]>([]);
export const canWrite = computed(() => role.value !== "reader");
export const palette = new Palette();

const MAX_LATENCIES = 60;
const NOTICE_MS = 12_000;

onAnswer((error, took) => {
  latencies.value = [...latencies.peek(), took].slice(-MAX_LATENCIES);
  if (error?.code === "UNAUTHENTICATED") loginWanted.value = token() ? "wrong" : "yes";
});

window.addEventListener("hashchange", () => {
  if (location.hash !== formatRoute(route.peek())) route.value = parseRoute(location.hash);
});

export function go(screen: Screen, params: Record<string, string> = {}): void {
  route.value = { screen, params };
  history.pushState(null, "", formatRoute(route.value));
}

/** Change parameters of the address without a new entry in the history. */
export function setParams(changed: Record<string, string>): void {
  route.value = { ...route.peek(), params: { ...route.peek().params, ...changed } };
  history.replaceState(null, "", formatRoute(route.value));
}

let numbers = 0;

export function notify(kind: Notice["kind"], title: string, advice = ""): void {
  const id = ++numbers;
  notices.value = [...notices.peek().slice(-3), { id, kind, title, advice }];
  setTimeout(() => dismiss(id), NOTICE_MS);
}

export function dismiss(id: number): void {
  notices.value = notices.peek().filter((notice) => notice.id !== id);
}

/** Show what went wrong; who is not logged in is asked to instead. */
export function report(error: unknown): void {
  const { code, message, advice } = toGatewayError(error);
  if (code !== "UNAUTHENTICATED") notify("error", message, advice);
}

/** Run something a person asked for; what goes wrong is shown, and the answer is then undefined. */
export async function attempt<T>(task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** Ask for the first things; without a login where one is wanted, the page asks for it. */
export async function start(): Promise<void> {
  startError.value = null;
  try {
    await refreshOverview();
    role.value = await findRole();
    loginWanted.value = "no";
    started.value = true;
  } catch (error) {
    startError.value = toGatewayError(error);
  }
}

export async function refreshOverview(): Promise<void> {
  overview.value = await ask<Overview>(documents.overview);
}

/** What the caller may do, found out with an empty change and a question for admins: neither does anything. */
async function findRole(): Promise<Role> {
  if (await isAllowed(documents.adminProbe)) return "admin";
  return (await isAllowed(documents.writerProbe)) ? "writer" : "reader";
}

async function isAllowed(document: string): Promise<boolean> {
  try {
    await ask<Json>(document);
    return true;
  } catch (error) {
    return toGatewayError(error).code !== "FORBIDDEN";
  }
}

export async function logIn(key: string): Promise<void> {
  setToken(key.trim());
  await start();
}

export function logOut(): void {
  setToken("");
  location.reload();
}
