// Health: each link from a tool call to a search, and the remedy for what is broken; looked at anew as long as it is open.

import { html, useEffect } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, useAsked } from "../parts/asking.js";
import { Card, Figures } from "../parts/marks.js";
import { bytes, figure, lasted, plural, text } from "../wording.js";

const AGAIN_MS = 15_000;
const SIGNS = { ok: "✓", note: "i", problem: "!" };
const NAMES = { ok: "well", note: "note", problem: "problem" };

export function Health({ project, turn }) {
  const info = useAsked((signal) => api.info(project, signal), [project, turn]);
  const checks = useAsked((signal) => api.doctor(project, signal), [project, turn]);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) { info.again(); checks.again(); } }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [info.again, checks.again]);
  return html`<${Asked} asked=${checks} lines=${8}>${(data) => html`<${Checks} checks=${data.checks} />`}</${Asked}>
    <${Asked} asked=${info} lines=${4}>${(data) => html`<${Daemon} info=${data} />`}</${Asked}>`;
}

function Checks({ checks }) {
  const problems = checks.filter((each) => each.state === "problem").length;
  const order = { problem: 0, note: 1, ok: 2 };
  const sorted = [...checks].sort((a, b) => order[a.state] - order[b.state]);
  return html`<p class=${"verdict" + (problems ? " bad" : "")}>${problems ? plural(problems, "problem") : "All is well"}</p>
    <ul class="checks">${sorted.map((each, n) => html`<li key=${n} class=${each.state}>
      <span class="sign" role="img" aria-label=${NAMES[each.state]}>${SIGNS[each.state]}</span>
      <div><p><b>${text(each.link)}</b> ${text(each.message)}</p>${each.remedy && html`<p class="dim">${text(each.remedy)}</p>`}</div>
    </li>`)}</ul>`;
}

function Daemon({ info }) {
  const { daemon, backend, embedder, captures } = info;
  return html`<${Card} title="The daemon of this project">
    <${Figures} of=${[
      { name: "Up", value: daemon.uptimeMs === null ? "–" : lasted(daemon.uptimeMs), note: daemon.version ? "siftd " + daemon.version : "does not run" },
      { name: "Memory", value: daemon.rssBytes === null ? "–" : bytes(daemon.rssBytes), note: daemon.pid ? "process " + daemon.pid : "" },
      { name: "Captures", value: figure(captures.accepted), note: `${figure(captures.rejected)} rejected, ${figure(captures.duplicates)} twice` },
    ]} />
    <p class="dim">Summaries by ${text(backend.name)} (${text(backend.state)}), vectors by ${text(embedder.name)} (${text(embedder.state)}).${backend.lastError ? " " + text(backend.lastError) : ""}</p>
  </${Card}>`;
}
