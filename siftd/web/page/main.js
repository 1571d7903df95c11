// The page begins: who is here, where they are, and what is drawn there.

import { html, render, useEffect, useState } from "./vendor/htm-preact/htm-preact.js";
import { readToken, takeToken } from "./access.js";
import { projects, whenStranger } from "./api.js";
import { follow } from "./live.js";
import { Trouble, Waiting, useAsked } from "./parts/asking.js";
import { go, link, parseRoute } from "./routing.js";
import { Login, NoProjects, Shell } from "./shell.js";
import { VIEWS } from "./views.js";

/** How long what happens is gathered before a view asks again. */
const SETTLED_MS = 700;

function Page() {
  const [isKnown, setKnown] = useState(Boolean(readToken()));
  useEffect(() => whenStranger(() => setKnown(false)), []);
  return isKnown ? html`<${Inside} onStranger=${() => setKnown(false)} />` : html`<${Login} />`;
}

function Inside({ onStranger }) {
  const [route, setRoute] = useState(parseRoute(location.hash));
  const asked = useAsked(projects, []);
  useEffect(() => {
    const moved = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  if (!asked.data) return html`<main class="alone">${asked.error ? html`<${Trouble} error=${asked.error} again=${asked.again} />` : html`<${Waiting} lines=${5} />`}</main>`;
  const known = asked.data.projects;
  if (!known.length) return html`<${NoProjects} again=${asked.again} />`;
  const project = known.find((each) => each.id === route.project) ?? known[0];
  const view = VIEWS.find((each) => each.name === route.view) ?? VIEWS[0];
  return html`<${Project} key=${project.id} projects=${known} project=${project} view=${view} query=${route.query} onStranger=${onStranger} />`;
}

/** One project, its view, and what happens in it meanwhile. */
function Project({ projects: known, project, view, query, onStranger }) {
  const [state, setState] = useState("waiting");
  const [news, setNews] = useState(null);
  const [away, setAway] = useState(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let timer;
    const settle = () => { timer ??= setTimeout(() => { timer = undefined; setTurn((n) => n + 1); }, SETTLED_MS); };
    const end = follow(project.id, {
      event: (kind, data) => {
        if (kind === "daemon") {
          setAway(data.isThere ? null : data.error);
          if (!data.isThere) return;
        } else if (kind !== "reset") setNews({ kind, data, at: Date.now() });
        settle();
      },
      state: (now) => {
        if (now === "stranger") onStranger();
        else setState((before) => { if (before === "away" && now === "live") settle(); return now; });
      },
    });
    return () => { clearTimeout(timer); end(); };
  }, [project.id]);
  useEffect(() => {
    document.title = `${view.title} · ${folderOf(project)} · siftd`;
    scrollTo(0, 0);
  }, [view, project.id]);
  const change = (values) => go(link(project.id, view.name, { ...query, ...values }));
  return html`<${Shell} projects=${known} project=${project} view=${view} state=${state} away=${away} news=${news}>
    <${view.component} key=${view.name} project=${project.id} query=${query} change=${change} turn=${turn} news=${news} />
  </${Shell}>`;
}

const folderOf = (project) => String(project.name || project.id);

takeToken();
render(html`<${Page} />`, document.getElementById("app"));
