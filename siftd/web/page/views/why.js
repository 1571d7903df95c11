// Why one piece is here: to whom it was given and what came of it, and below what it stands on, down to the prompt.

import { html, useEffect, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Acts } from "../parts/acts.js";
import { Asked, Empty, useAsked } from "../parts/asking.js";
import { Author, Card, Id, SaidBy } from "../parts/marks.js";
import { growTree } from "../parts/tree.js";
import { link } from "../routing.js";
import { moment, plural, share, text } from "../wording.js";

const SAMPLES = 6;

export function Why({ project, query, change, turn }) {
  const [id, setId] = useState(query.id ?? "");
  const [said, setSaid] = useState("");
  useEffect(() => setId(query.id ?? ""), [query.id]);
  const submit = (event) => { event.preventDefault(); change({ id: id.trim().replace(/^#/, "") }); };
  return html`<form class="find" onSubmit=${submit}>
      <label class="unseen" for="why-id">Which piece</label>
      <input id="why-id" placeholder="s7, m3, e12 or t12" value=${id} autocomplete="off" spellcheck=${false} onInput=${(event) => setId(event.target.value)} />
      <button class="main">Explain</button>
    </form>
    <p class="said" role="status">${said}</p>
    ${query.id
      ? html`<${Piece} project=${project} id=${query.id} turn=${turn} onDone=${setSaid} />`
      : html`<${Choose} project=${project} turn=${turn} />`}`;
}

/** Nothing is chosen: what was given lately is what people ask about. */
function Choose({ project, turn }) {
  const asked = useAsked((signal) => api.injections(project, { limit: SAMPLES }, signal), [project], turn);
  const nothing = html`<${Empty} title="Choose a piece">
    <p>Each id on this page leads here. Agents were given nothing yet, so begin with <a href=${link(project, "search")}>a search</a>.</p>
  </${Empty}>`;
  return html`<${Asked} asked=${asked} isEmpty=${(data) => !data.injections.length} empty=${nothing}>
    ${(data) => html`<section><h2>Given lately</h2><ul class="rows">${data.injections.map((each) => html`<li key=${each.id}>
      <${Id} project=${project} id=${text(each.piece)} /><span class="clip">${text(each.text) || "Gone by now"}</span><time>${moment(each.ts)}</time>
    </li>`)}</ul></section>`}
  </${Asked}>`;
}

function Piece({ project, id, turn, onDone }) {
  const asked = useAsked((signal) => growTree((which) => api.item(project, which, signal), id), [project, id], turn);
  const reasons = useAsked((signal) => api.why(project, id, signal), [project, id], turn);
  const done = (sentence) => { onDone(sentence); asked.again(); };
  return html`<${Asked} asked=${asked} lines=${6}>
    ${(tree) => html`
      <section class="piece">
        <p class="facts"><b class="id">${tree.id}</b><span class="tag">${tree.mark ? text(tree.mark.source) : tree.kind}</span>${tree.mark && html`<${Author} mark=${tree.mark} />`}${tree.saidBy && html`<${SaidBy} by=${tree.saidBy} />`}<time>${moment(tree.ts)}</time></p>
        ${tree.mark?.title && html`<p><b>${text(tree.mark.title)}</b>${tree.mark.url && html` <span class="dim">${text(tree.mark.url)}</span>`}</p>`}
        <p class="words large">${tree.words}</p>
        ${tree.behind.length > 0 && html`<p>Hidden behind ${tree.behind.map((each) => html`<${Id} key=${each} project=${project} id=${each} /> `)}: it says the same, or took its place. No search finds it but one that asks for hidden ones.</p>`}
        ${tree.sessionId && html`<p class="dim"><a href=${link(project, "sessions", { id: tree.sessionId })}>Its session</a></p>`}
        ${tree.mutedSince && html`<p>Given to nobody unasked since ${moment(tree.mutedSince)}: a person said so. A search finds it as before.</p>`}
        <${Acts} project=${project} id=${tree.id} words=${tree.words} isMemory=${tree.kind === "memory" && tree.isActive} isPinned=${tree.isPinned} happened=${tree.kind !== "memory"} isOfTeam=${Boolean(tree.mark)} isMuted=${Boolean(tree.mutedSince)} onDone=${done} />
      </section>
      <${Card} title="What it stands on" note="From the piece down to the prompt that began it">
        ${tree.children.length ? html`<ul class="tree">${tree.children.map((each) => html`<${Node} key=${each.id} project=${project} node=${each} />`)}</ul>` : html`<p class="dim">${tree.mark ? "What led to it is on its author's device." : "It stands on nothing else: it is what was captured, or what somebody said."}</p>`}
      </${Card}>
      <${Card} title="Given to agents" note="Unasked, at a session's start or with a prompt">
        <${Asked} asked=${reasons} lines=${2} isEmpty=${(data) => !data.injections.length} empty=${html`<p class="dim">No agent was given it yet.</p>`}>
          ${(data) => html`<${GivenTo} project=${project} injections=${data.injections} />`}
        </${Asked}>
      </${Card}>
      <${History} story=${reasons.data?.story} />`}
  </${Asked}>`;
}

/** What was said of a memory since it was kept. */
function History({ story }) {
  const history = story?.fact?.history ?? [];
  if (!history.length) return null;
  return html`<${Card} title="Said of it since"><ul class="rows">${history.map((each, n) => html`<li key=${n}>
    <span>${text(each.what)}</span><span class="clip dim">${text(each.why)}</span><time>${moment(each.ts)}</time>
  </li>`)}</ul></${Card}>`;
}

function Node({ project, node }) {
  const named = node.children.filter((each) => each.kind === "named");
  const grown = node.children.filter((each) => each.kind !== "named");
  return html`<li>
    <div class=${"node " + node.kind + (node.isFailed ? " failed" : "")}>
      <p class="facts"><${Id} project=${project} id=${node.id} /><span class="tag">${node.relation}</span>${node.tool && html`<span class="tool">${node.tool}</span>`}${named.map((each) => html`<span key=${each.id}>${each.relation} <${Id} project=${project} id=${each.id} /></span>`)}</p>
      ${node.words && html`<p class="clamp">${node.words}</p>`}
    </div>
    ${grown.length > 0 && html`<ul>${grown.map((each) => html`<${Node} key=${each.id} project=${project} node=${each} />`)}</ul>`}
    ${node.left > 0 && html`<p class="dim">and ${plural(node.left, "more")}</p>`}
  </li>`;
}

function GivenTo({ project, injections }) {
  const used = injections.filter((each) => each.touchedBy).length;
  return html`<p>Given ${plural(injections.length, "time")}; then used ${plural(used, "time")} (${share(used, injections.length)}).</p>
    <ul class="rows">${injections.slice(0, SAMPLES).map((each) => html`<li key=${each.id}>
      <a href=${link(project, "sessions", { id: each.sessionId, at: "e" + each.afterId })}>${moment(each.ts)}</a>
      <span class="clip dim">${reasonOf(each.why)}</span>
      <span class=${"tag" + (each.touchedBy ? " good" : "")}>${each.touchedBy ? "used" : "not used"}</span>
    </li>`)}</ul>`;
}

const reasonOf = (why) => Object.entries(why ?? {}).filter(([, value]) => value !== null && typeof value !== "object").map(([name, value]) => `${name} ${typeof value === "number" ? Math.round(value * 100) / 100 : text(value)}`).join(" · ");
