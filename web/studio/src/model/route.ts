// The address bar: `#/screen?key=value`, from which any view can be restored.

export const SCREENS = ["explore", "query", "facts", "time", "ontology", "live", "admin"] as const;
export type Screen = (typeof SCREENS)[number];

export interface Route {
  screen: Screen;
  params: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const screen = SCREENS.find((name) => name === path) ?? "explore";
  return { screen, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** The hash of a route; empty parameters are left out and the rest are sorted, so equal views have equal addresses. */
export function formatRoute(route: Route): string {
  const given = Object.entries(route.params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `#/${route.screen}${query ? `?${query}` : ""}`;
}

/** Several ids in one parameter; ids may contain any character, commas among them. */
export function joinIds(ids: Iterable<string>): string {
  return [...ids].map((id) => id.replaceAll("~", "~0").replaceAll(",", "~1")).join(",");
}

export function splitIds(text: string | undefined): string[] {
  return text ? text.split(",").map((id) => id.replaceAll("~1", ",").replaceAll("~0", "~")) : [];
}
