// What the whole page knows: where it is, who asks, how large the store is, and what went wrong.
import { computed, signal } from "@preact/signals";
import { ask, onAnswer, setToken, token } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { type Route, type Screen, formatRoute, parseRoute } from "../model/route.ts";
import type { Stats } from "../model/types.ts";
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

/** Who asks, and what they may do; the gateway says it, and refuses whatever is asked beyond it. */
export interface Viewer {
  user: string;
  tenant: string;
  roles: ("READER" | "WRITER" | "ADMIN")[];
  managesKeys: boolean;
  managesGateway: boolean;
}

export const route = signal<Route>(parseRoute(location.hash));
export const overview = signal<Overview | null>(null);
export const viewer = signal<Viewer | null>(null);
export const loginWanted = signal<"no" | "yes" | "wrong">("no");
export const started = signal(false);
export const startError = signal<GatewayError | null>(null);
export const notices = signal<Notice[]>([]);
export const latencies = signal<number[]>([]);
export const canWrite = computed(() => viewer.value?.roles.includes("WRITER") ?? false);
export const isAdmin = computed(() => viewer.value?.roles.includes("ADMIN") ?? false);
/** Admins of a tenant that shares its graph administer their keys, and nothing else. */
export const seesAdmin = computed(() => isAdmin.value || (viewer.value?.managesKeys ?? false));
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
    viewer.value = (await ask<{ viewer: Viewer }>(documents.viewer)).viewer;
    loginWanted.value = "no";
    started.value = true;
  } catch (error) {
    startError.value = toGatewayError(error);
  }
}

export async function refreshOverview(): Promise<void> {
  overview.value = await ask<Overview>(documents.overview);
}

export async function logIn(key: string): Promise<void> {
  setToken(key.trim());
  await start();
}

export function logOut(): void {
  setToken("");
  location.reload();
}
