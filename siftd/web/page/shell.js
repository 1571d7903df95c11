// What stands around each view: the name, the projects, the ways to the views, and whether the page is live.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact/htm-preact.js";
import { keepPlace, wasSpent } from "./access.js";
import { go, link } from "./routing.js";
import { Coded, toolName } from "./parts/marks.js";
import { VIEWS } from "./views.js";
import { clock, folder, plural, text } from "./wording.js";

const Mark = () => html`<svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M8 10h16M11 16h10M14.5 22h3" /></svg>`;

export function Shell({ projects, project, view, state, away, news, children }) {
  const [isOpen, setOpen] = useState(false);
  const main = useRef();
  useEffect(() => setOpen(false), [view, project]);
  const skip = (event) => { event.preventDefault(); main.current.focus(); };
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${skip}>To the content</a>
    <header class="side">
      <div class="brand">
        <${Mark} /><span>siftd</span>
        <button class="menu small" aria-expanded=${isOpen ? "true" : "false"} aria-controls="side-body" onClick=${() => setOpen(!isOpen)}>${isOpen ? "Close" : "Menu"}</button>
      </div>
      <div id="side-body" class=${"side-body" + (isOpen ? " open" : "")}>
        <label class="project"><span>Project</span>
          <select value=${project.id} onChange=${(event) => go(link(event.target.value, view.name))}>
            ${projects.map((each) => html`<option key=${each.id} value=${each.id}>${text(each.name) || folder(each.root ?? each.id)}</option>`)}
          </select>
        </label>
        <${Ways} project=${project} view=${view} />
        <${Live} state=${state} news=${news} />
      </div>
    </header>
    <main id="main" ref=${main} tabindex="-1">
      ${state === "away" && html`<p class="banner" role="alert"><b>This page's process has stopped.</b> Run <code>mem web</code> again. What you see stays here, and the page goes on by itself.</p>`}
      ${away && state !== "away" && html`<div class="banner" role="alert"><b>The daemon of this project does not answer.</b> ${text(away.message)}${away.hint ? html` (<${Coded} words=${away.hint} />)` : ""}. The page goes on by itself.</div>`}
      <header class="head"><h1>${view.title}</h1><p>${view.lead}</p></header>
      ${children}
    </main>
  </div>`;
}

function Ways({ project, view }) {
  const groups = [...new Set(VIEWS.map((each) => each.group))];
  return html`<nav aria-label="Views">
    ${groups.map((group) => html`<div key=${group}>
      <p class="group" id=${"group-" + group}>${group}</p>
      <ul aria-labelledby=${"group-" + group}>
        ${VIEWS.filter((each) => each.group === group).map((each) => html`<li key=${each.name}>
          <a href=${link(project.id, each.name)} aria-current=${each === view ? "page" : undefined}>${each.title}</a>
        </li>`)}
      </ul>
    </div>`)}
  </nav>`;
}

const STATES = { live: "Live", away: "Reconnecting…", waiting: "Connecting…", refused: "Not live: trying again…" };

function Live({ state, news }) {
  return html`<div class=${"state is-" + state} role="status">
    <p><i></i>${STATES[state]}</p>
    <p class="news">${news ? `${told(news)} · ${clock(news.at)}` : "Nothing new since you came"}</p>
  </div>`;
}

function told({ kind, data }) {
  if (kind === "forgotten") return "Something was forgotten";
  if (kind === "drain") return plural(data.processed ?? 0, "event was", "events were") + " summarised";
  if (kind === "memory:indexed") return `${text(data.id)} can be found now`;
  return [toolName(data.tool ?? ""), kind.replace(/[:_]/g, " ")].filter(Boolean).join(" ");
}

/** Nobody is here yet: the code that `mem web` printed lets them in. */
export function Login() {
  return html`<main class="alone">
    <${Mark} />
    <h1>Open the memory</h1>
    <p>Run <code>mem web</code> in a terminal. It opens this page by itself, or prints a code for here. A code works once, for a minute.</p>
    ${wasSpent() && html`<p class="trouble" role="alert">This code is spent or too old. Run <code>mem web</code> again for another.</p>`}
    <form method="post" action="/login" class="login" onSubmit=${keepPlace}>
      <label for="code">Code</label>
      <input id="code" name="code" required autofocus autocomplete="off" spellcheck=${false} />
      <button class="main">Open</button>
    </form>
    <p class="dim">Nothing leaves this machine: the page is served by a process of yours, to you alone.</p>
  </main>`;
}

export function NoProjects({ again }) {
  return html`<main class="alone">
    <${Mark} />
    <h1>Nothing is remembered yet</h1>
    <p>Run <code>mem install</code>, then work with your agent as always. Each folder that it works in becomes a project here.</p>
    <button class="main" onClick=${again}>Look again</button>
  </main>`;
}
