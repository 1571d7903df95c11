// Search: each hit with its proof and, as bars, what its score is made of.

import { html, useEffect, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Acts } from "../parts/acts.js";
import { Asked, Empty, useAsked } from "../parts/asking.js";
import { Author, Bars, Card, Id, SaidBy, Tool } from "../parts/marks.js";
import { link } from "../routing.js";
import { ago, moment, plural, text } from "../wording.js";

const MOST = 20;
const SOURCES = [["", "Everything"], ["memory", "Memories"], ["summary", "Summaries"], ["event", "Events"]];

export function Search({ project, query, change, turn }) {
  const [words, setWords] = useState(query.q ?? "");
  const [said, setSaid] = useState("");
  const [changes, setChanges] = useState(0);
  useEffect(() => setWords(query.q ?? ""), [query.q]);
  const joined = useAsked((signal) => api.team(project, "false", signal), [project]);
  const submit = (event) => { event.preventDefault(); change({ q: words.trim() }); };
  return html`<form role="search" class="find" onSubmit=${submit}>
      <label class="unseen" for="q">Search</label>
      <input id="q" type="search" placeholder="Why were outdated tokens let in?" value=${words} autocomplete="off" onInput=${(event) => setWords(event.target.value)} />
      <button class="main">Search</button>
    </form>
    <div class="picks" role="group" aria-label="What to search">
      ${SOURCES.map(([value, name]) => html`<button key=${value} class="pick" aria-pressed=${(query.of ?? "") === value ? "true" : "false"} onClick=${() => change({ of: value })}>${name}</button>`)}
      ${(joined.data?.team || query.team) && html`<button class="pick" aria-pressed=${query.team ? "true" : "false"} onClick=${() => change({ team: query.team ? "" : "only" })}>The team's alone</button>`}
      <button class="pick" aria-pressed=${query.hidden ? "true" : "false"} onClick=${() => change({ hidden: query.hidden ? "" : "too" })}>Hidden too</button>
    </div>
    <p class="said" role="status">${said}</p>
    ${query.q
      ? html`<${Hits} project=${project} query=${query} turn=${changes} onDone=${(sentence) => { setSaid(sentence); setChanges(changes + 1); }} />`
      : html`<${Lately} project=${project} turn=${turn} />`}`;
}

function Hits({ project, query, turn, onDone }) {
  const asked = useAsked((signal) => api.search(project, { q: query.q, k: MOST, source: query.of, superseded: query.hidden && "true", team: query.team && "true" }, signal), [project, query.q, query.of, query.hidden, query.team], turn);
  const pins = useAsked((signal) => api.memories(project, { pinned: "true", limit: 200 }, signal), [project], turn);
  const pinned = new Set(pins.data?.memories.map((each) => "m" + each.id));
  const nothing = html`<${Empty} title="Nothing was found">
    <p>Try fewer or other words: a file's name, a command, a word of the error. What was captured a moment ago is found at once by its words, and by its meaning after the next tick.</p>
  </${Empty}>`;
  return html`<${Asked} asked=${asked} lines=${6} isEmpty=${(data) => !data.hits.length && !data.notes?.length} empty=${nothing}>
    ${(data) => html`<p class="dim tally">${plural(data.hits.length, "hit")}${data.ms === undefined ? "" : ` in ${Math.round(data.ms)} ms`}${data.degraded ? ` · ${text(data.degraded)}` : ""}</p>
      ${data.notes?.length > 0 && html`<${Notes} notes=${data.notes} />`}
      <ol class="hits">${data.hits.map((hit) => html`<${Hit} key=${hit.id} project=${project} hit=${hit} isPinned=${pinned.has(hit.id)} onDone=${onDone} />`)}</ol>`}
  </${Asked}>`;
}

function Hit({ project, hit, isPinned, onDone }) {
  const words = hit.passage ?? hit.text;
  return html`<li class="hit" id=${"hit-" + hit.id}>
    <p class="facts">
      <${Id} project=${project} id=${hit.id} />
      ${hit.tool && !hit.team ? html`<${Tool} name=${hit.tool} />` : html`<span class="tool">${whatOf(hit)}</span>`}
      ${hit.team ? html`<${Author} mark=${hit.team} />` : html`<${SaidBy} by=${hit.saidBy} />`}
      <time title=${moment(hit.ts)}>${ago(hit.ts)}</time>
    </p>
    ${hit.team?.title && html`<p><b>${text(hit.team.title)}</b></p>`}
    <p class="words clamp">${text(words)}</p>
    ${hit.asked?.text && html`<p class="dim asked">Asked: ${text(hit.asked.text)}</p>`}
    <${Arithmetic} project=${project} hit=${hit} />
    <${Acts} project=${project} id=${hit.id} words=${words} isMemory=${hit.kind === "memory" && !hit.team} isPinned=${isPinned} happened=${Boolean(hit.team)} isOfTeam=${Boolean(hit.team)} onDone=${onDone} />
  </li>`;
}

const KEPT = ["memory", "fact", "summary"];
/** What a hit is; of the team's what it is there. */
const whatOf = (hit) => text(hit.team && !KEPT.includes(hit.team.source) ? hit.team.source : hit.type ?? (hit.scope ? "story" : hit.kind));

/** What the project's files of notes say of it: people's files, so that there is nothing to correct here. */
function Notes({ notes }) {
  return html`<${Card} title="In the notes"><ul class="notes">${notes.map((note) => html`<li key=${note.id}>
    <p class="facts"><code>${text(note.id)}</code><span>${text(note.heading)}</span>${note.archived && html`<span class="tag">archived</span>`}</p>
    <p class="clamp">${text(note.text)}</p>
  </li>`)}</ul></${Card}>`;
}

const LEGS = { words: "its words", raw: "the event's words", vector: "its meaning", trigram: "parts of words", symbol: "a name in code", file: "a file" };

/** Whatever found it adds up; what is known of it lifts the sum. */
function Arithmetic({ project, hit }) {
  const legs = Object.entries(hit.why).filter(([, part]) => part !== null && typeof part === "object");
  const found = legs.map(([name, leg]) => `${LEGS[name] ?? name} (no. ${text(leg.rank)})`).join(" and ");
  const parts = Object.entries(hit.why).filter(([, part]) => typeof part === "number" && part !== 0);
  const rows = [
    ...legs.map(([name, leg]) => ({ name: LEGS[name] ?? name, value: leg.score, shown: "no. " + text(leg.rank) })),
    ...parts.map(([name, part]) => ({ name, value: part, shown: (part > 0 ? "+" : "−") + Math.abs(part).toFixed(2) })),
  ];
  return html`<details class="arithmetic">
    <summary>
      <span>Found by ${found || "its place"}</span>
      <span class="score"><span class="unseen">score </span>${hit.score.toFixed(2)}</span>
    </summary>
    <${Bars} rows=${rows} label=${"What the score of " + hit.id + " is made of"} />
    ${hit.kind === "memory" && !hit.team && html`<p class="dim">Proof: what <${Id} project=${project} id=${hit.id} /> was taken from</p>`}
    ${hit.eventId !== null && html`<p class="dim">Proof: <${Id} project=${project} id=${"e" + hit.eventId} />, in <a href=${link(project, "sessions", { id: hit.sessionId, at: "e" + hit.eventId })}>its session</a></p>`}
  </details>`;
}

/** What there is to ask about, while nothing is asked. */
function Lately({ project, turn }) {
  const asked = useAsked((signal) => api.timeline(project, { before: 10, after: 0 }, signal), [project], turn);
  const nothing = html`<${Empty} title="Nothing is captured yet">
    <p>Run <code>mem install</code> once, then work with your agent as always. What it does appears here as it happens.</p>
  </${Empty}>`;
  return html`<section class="lately"><h2>Lately</h2>
    <${Asked} asked=${asked} lines=${8} isEmpty=${(data) => !data.events.length} empty=${nothing}>
      ${(data) => html`<ul class="rows">${[...data.events].sort((a, b) => b.eventId - a.eventId).map((event) => html`<li key=${event.eventId}>
        <${Id} project=${project} id=${"e" + event.eventId} />
        <${Tool} name=${event.tool} isFailed=${event.outcome === "failed"} />
        <span class="clip">${text(event.text)}</span>
        <time title=${moment(event.ts)}>${ago(event.ts)}</time>
      </li>`)}</ul>`}
    </${Asked}>
  </section>`;
}
