// The frame of the page: screens at the left, search and state at the top, notices, and the login.
import { useState } from "preact/hooks";
import { SCREENS } from "../model/route.ts";
import { canWrite, dismiss, go, logIn, logOut, loginWanted, notices, overview, route, seesAdmin, start, startError, started, viewer } from "../state/app.ts";
import { link } from "../state/log.ts";
import { switchTheme, theme } from "../state/theme.ts";
import { token } from "../api/client.ts";
import { texts } from "../texts.ts";
import { AdminScreen } from "../screens/admin.tsx";
import { ExploreScreen } from "../screens/explore.tsx";
import { FactsScreen } from "../screens/facts.tsx";
import { LiveScreen } from "../screens/live.tsx";
import { OntologyScreen } from "../screens/ontology.tsx";
import { QueryScreen } from "../screens/query.tsx";
import { TimeScreen } from "../screens/time.tsx";
import { Icon } from "./icons.tsx";
import { SearchBox } from "./searchBox.tsx";
import { Button, Dialog, ErrorBox, Loading } from "./widgets.tsx";

const SCREEN_PARTS = {
  explore: ExploreScreen,
  query: QueryScreen,
  facts: FactsScreen,
  time: TimeScreen,
  ontology: OntologyScreen,
  live: LiveScreen,
  admin: AdminScreen,
} as const;

export function Shell() {
  const { screen } = route.value;
  const Part = SCREEN_PARTS[screen];
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={focusContent}>{texts.skip}</button>
      <Navigation />
      <TopBar />
      <main id="content" tabIndex={-1} class={`screen ${screen}`} aria-label={texts.screens[screen]}>
        {started.value ? <Part key={screen} /> : <Waiting />}
      </main>
      <Notices />
      {loginWanted.value !== "no" && <Login />}
    </div>
  );
}

function focusContent(): void {
  document.getElementById("content")?.focus();
}

function Waiting() {
  if (loginWanted.value !== "no") return null;
  return startError.value ? <ErrorBox error={startError.value} retry={() => void start()} /> : <Loading />;
}

function Navigation() {
  const shown = SCREENS.filter((name) => name !== "admin" || seesAdmin.value);
  return (
    <nav class="navigation" aria-label={texts.navigation}>
      <div class="brand" title={texts.product}>
        <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
          <path class="brand-lines" d="M8 9L23 7M8 9l8 15M23 7l-7 17" />
          <circle class="brand-a" cx="8" cy="9" r="4" />
          <circle class="brand-b" cx="23" cy="7" r="3.5" />
          <circle class="brand-c" cx="16" cy="24" r="5" />
        </svg>
      </div>
      {shown.map((name) => (
        <a key={name} href={`#/${name}`} aria-current={route.value.screen === name ? "page" : undefined} onClick={(event) => openScreen(event, name)}>
          <Icon name={name} />
          <span>{texts.screens[name]}</span>
        </a>
      ))}
    </nav>
  );
}

/** Who asks where nobody logs in. */
const LOCAL_USER = "local";
const lastParams = new Map<string, Record<string, string>>();

/** A screen opens as it was left. */
function openScreen(event: MouseEvent, name: (typeof SCREENS)[number]): void {
  if (event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  lastParams.set(route.peek().screen, route.peek().params);
  go(name, lastParams.get(name) ?? {});
}

function TopBar() {
  const found = overview.value;
  return (
    <header class="top-bar">
      <h1>{texts.product}</h1>
      <SearchBox />
      <div class="top-state">
        {found && (
          <span class="counts">
            <b>{found.stats.nodes.toLocaleString("en")}</b> {found.stats.nodes === 1 ? "node" : "nodes"} · <b>{found.stats.edges.toLocaleString("en")}</b> {found.stats.edges === 1 ? "edge" : "edges"}
          </span>
        )}
        {started.value && <span class={`link-state ${link.value}`} role="status">{texts.link[link.value]}</span>}
        {viewer.value && viewer.value.user !== LOCAL_USER && <span class="chip viewer" title={texts.tenant(viewer.value.tenant)}><bdi>{viewer.value.user}</bdi></span>}
        {started.value && !canWrite.value && <span class="chip">{texts.admin.roles.READER}</span>}
        <a class="button quiet" href="/graphql">{texts.graphiql}</a>
        {token() && <Button kind="quiet" onClick={logOut}>{texts.logout}</Button>}
        <Button kind="quiet" icon={theme.value === "dark" ? "sun" : "moon"} label={texts.theme.toggle} onClick={switchTheme} />
      </div>
    </header>
  );
}

function Notices() {
  return (
    <div class="notices" aria-live="polite">
      {notices.value.map(({ id, kind, title, advice }) => (
        <div key={id} class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
          <div>
            <strong><bdi>{title}</bdi></strong>
            {advice && <p>{advice}</p>}
          </div>
          <Button kind="quiet" icon="close" label={texts.close} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

function Login() {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await logIn(key);
    setBusy(false);
  };
  return (
    <Dialog title={texts.login.title}>
      <form class="form" onSubmit={submit}>
        <p>{texts.login.words}</p>
        {loginWanted.value === "wrong" && <p class="wrong" role="alert">{texts.login.wrong}</p>}
        <label>
          {texts.login.label}
          <input type="password" value={key} onInput={(event) => setKey(event.currentTarget.value)} autocomplete="off" required />
        </label>
        <footer>
          <small>{texts.login.kept}</small>
          <Button type="submit" kind="main" disabled={busy || !key.trim()}>{texts.login.button}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
