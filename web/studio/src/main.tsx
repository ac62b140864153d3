// Studio: starts the page.
import { effect } from "@preact/signals";
import { render } from "preact";
import { start, started } from "./state/app.ts";
import { follow } from "./state/log.ts";
import "./state/theme.ts";
import "./studio.css";
import { Shell } from "./ui/shell.tsx";

effect(() => {
  if (started.value) follow();
});
render(<Shell />, document.getElementById("studio") as HTMLElement);
void start();
