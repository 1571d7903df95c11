// Small things that many views draw: an id that leads to its reasons, whose words these are, a tool's kind, bars, figures.

import { html } from "../vendor/htm-preact/htm-preact.js";
import { link } from "../routing.js";
import { text } from "../wording.js";

/** A memory's id as it is cited: those for every project have a letter of their own. */
export const citeMemory = (project, number) => (project === "_global" ? "g" : "m") + number;

export const Id = ({ project, id }) => html`<a class="id" href=${link(project, "why", { id })} title="Why is this here?">${id}</a>`;

const SAID_BY = { person: "you", output: "output", agent: "agent", model: "model" };
export const SaidBy = ({ by }) => html`<span class="tag">${SAID_BY[by] ?? text(by)}</span>`;

/** Who told an item of the team's; a name is quoted, since somebody's may be "you". */
export const Author = ({ mark }) => html`<span class="tag good">${mark.isMine ? "you, on another device" : "“" + text(mark.author) + "”"}<span class="unseen"> of the team</span></span>`;

const SPOKEN = { UserPromptSubmit: "Prompt", Stop: "Turn's end", SubagentStop: "Subagent's end", SessionStart: "Start", SessionEnd: "End", AssistantText: "Said" };
/** A tool's name, or what happened where it is none. */
export const toolName = (name) => (Object.hasOwn(SPOKEN, name ?? "") ? SPOKEN[name] : text(name));

export const Tool = ({ name, isFailed }) => html`<span class=${"tool" + (isFailed ? " failed" : "")}>${isFailed ? "✕ " : ""}${toolName(name)}</span>`;

/** A sentence with commands in backticks. */
export const Coded = ({ words }) => text(words).split("`").map((part, n) => (n % 2 ? html`<code key=${n}>${part}</code>` : part));

/** Horizontal bars of `rows` [{name, value, shown}], the longest first unless `isOrdered`. */
export function Bars({ rows, label }) {
  const top = Math.max(1e-9, ...rows.map((row) => Math.abs(row.value)));
  return html`<dl class="bars" aria-label=${label}>
    ${rows.map((row) => html`<div class="bar-row" key=${row.name}>
      <dt>${text(row.name)}</dt>
      <dd><span class=${"bar" + (row.value < 0 ? " minus" : "")} style=${{ width: (100 * Math.abs(row.value)) / top + "%" }}></span></dd>
      <dd class="bar-figure">${row.shown ?? row.value}</dd>
    </div>`)}
  </dl>`;
}

/** A few figures beside each other: [{name, value, note}]. */
export const Figures = ({ of }) => html`<dl class="figures">
  ${of.map((each) => html`<div key=${each.name}><dt>${each.name}</dt><dd>${each.value}</dd>${each.note && html`<dd class="dim">${each.note}</dd>`}</div>`)}
</dl>`;

export const Card = ({ title, note, children }) => html`<section class="card">
  <header><h2>${title}</h2>${note && html`<p class="dim">${note}</p>`}</header>
  ${children}
</section>`;
