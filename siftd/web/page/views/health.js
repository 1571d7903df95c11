// Health: each link from a tool call to a search, and the remedy for what is broken; looked at anew as long as it is open.

import { html, useEffect } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, useAsked } from "../parts/asking.js";
import { Card, Coded, Figures } from "../parts/marks.js";
import { bytes, figure, lasted, plural, text } from "../wording.js";

const DAEMON_MS = 10_000;
const DOCTOR_MS = 60_000; // it reads the whole log: seconds where that is long
const SIGNS = { ok: "✓", note: "i", problem: "!" };
const NAMES = { ok: "well", note: "note", problem: "problem" };
const ORDER = { problem: 0, note: 1, ok: 2 };

export function Health({ project, turn }) {
  const info = useAsked((signal) => api.info(project, signal), [project], turn);
  const doctor = useAsked((signal) => api.doctor(project, signal), [project], 0);
  useRepeated(info.again, DAEMON_MS);
  useRepeated(doctor.again, DOCTOR_MS);
  return html`<${Asked} asked=${info} lines=${4}>
    ${(data) => html`<${Daemon} info=${data} />
      <${Asked} asked=${doctor} lines=${10}>${(found) => html`<${Links} links=${found.checks} again=${doctor.again} />`}</${Asked}>`}
  </${Asked}>`;
}

/** Ask again for as long as the page is looked at. */
function useRepeated(again, everyMs) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), everyMs);
    return () => clearInterval(timer);
  }, [again]);
}

function Links({ links, again }) {
  const problems = links.filter((each) => each.state === "problem").length;
  const sorted = [...links].sort((a, b) => ORDER[a.state] - ORDER[b.state]);
  return html`<p class=${"verdict" + (problems ? " bad" : "")} role="status">${problems ? plural(problems, "problem") : "All is well"}</p>
    <ul class="checks">${sorted.map((each, n) => html`<li key=${n} class=${each.state}>
      <span class="sign" role="img" aria-label=${NAMES[each.state]}>${SIGNS[each.state]}</span>
      <div><p><b>${text(each.link)}</b> <${Coded} words=${each.message} /></p>${each.remedy && html`<p class="dim"><${Coded} words=${each.remedy} /></p>`}</div>
    </li>`)}</ul>
    <p class="dim tally">This is what <code>mem doctor</code> finds. In a terminal it looks at your shell too. <button class="small" onClick=${again}>Look again</button></p>`;
}

function Daemon({ info }) {
  const { daemon, captures } = info;
  return html`<${Card} title="The daemon of this project">
    <${Figures} of=${[
      { name: "Up", value: daemon.uptimeMs === null ? "–" : lasted(daemon.uptimeMs), note: daemon.version ? "siftd " + text(daemon.version) : "does not run" },
      { name: "Memory", value: daemon.rssBytes === null ? "–" : bytes(daemon.rssBytes), note: daemon.pid ? "process " + daemon.pid : "" },
      { name: "Captures", value: figure(captures.accepted), note: `${figure(captures.rejected)} rejected, ${figure(captures.duplicates)} came twice` },
    ]} />
  </${Card}>`;
}
