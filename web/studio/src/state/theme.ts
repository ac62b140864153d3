// Dark or light: what the system prefers, until somebody chooses.
import { signal } from "@preact/signals";

export type Theme = "dark" | "light";
const KEY = "ugs.studio.theme";

function initial(): Theme {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "dark" || chosen === "light") return chosen;
  return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
}

export const theme = signal<Theme>(initial());
theme.subscribe((value) => {
  document.documentElement.dataset.theme = value;
});

export function switchTheme(): void {
  theme.value = theme.peek() === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, theme.value);
}
