// The graph: who and what is known, what is known of one, what hangs together with it, and which items say so.

import { html, useEffect, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, useAsked } from "../parts/asking.js";
import { Card, Id, SaidBy } from "../parts/marks.js";
import { link } from "../routing.js";
import { day, moment, plural, short, text } from "../wording.js";

const HUBS = 30;
const AROUND = 40;
const WORDS_MAX = 300;

export function Graph({ project, query, change, turn }) {
  const [name, setName] = useState(query.name ?? "");
  useEffect(() => setName(query.name ?? ""), [query.name]);
  const submit = (event) => { event.preventDefault(); change({ name: name.trim() }); };
  return html`<form class="find" onSubmit=${submit}>
      <label class="unseen" for="graph-name">Who or what</label>
      <input id="graph-name" placeholder="auth service, x3, or: what does auth depend on?" value=${name} autocomplete="off" spellcheck=${false} onInput=${(event) => setName(event.target.value)} />
      <button class="main">Show</button>
    </form>
    ${query.name
      ? html`<${Whole} project=${project} name=${query.name} turn=${turn} />`
      : html`<${Hubs} project=${project} turn=${turn} />`}`;
}

/** Nothing is asked: what most hangs on is a way in. */
function Hubs({ project, turn }) {
  const asked = useAsked((signal) => api.entities(project, { limit: HUBS }, signal), [project], turn);
  const nothing = html`<${Empty} title="Nothing hangs together yet">
    <p>The graph grows with what is captured, kept and read in: <code>mem ingest docs</code>.</p>
  </${Empty}>`;
  return html`<${Asked} asked=${asked} lines=${6} isEmpty=${(data) => !data.entities.length} empty=${nothing}>
    ${(data) => html`<${Card} title="What most hangs on"><ul class="rows">${data.entities.map((each) => html`<li key=${each.id}>
      <${Entity} project=${project} entity=${each} /><span class="tag">${text(each.type)}</span><span class="clip dim">${each.aliases.map(text).join(", ")}</span><span class="dim">${plural(each.relations, "relation")}</span>
    </li>`)}</ul></${Card}>`}
  </${Asked}>`;
}

function Whole({ project, name, turn }) {
  const asked = useAsked((signal) => api.entity(project, { name }, signal), [project, name], turn);
  return html`<${Asked} asked=${asked} lines=${6}>
    ${(data) => html`
      <section class="piece">
        <p class="facts"><b class="id">${data.entity.id}</b><span class="tag">${text(data.entity.type)}</span><span class="dim">${plural(data.entity.mentions, "mention")}, first spoken of ${day(data.entity.firstTs)}</span></p>
        <p class="words large">${text(data.entity.name)}</p>
        ${data.entity.description && html`<p>${text(data.entity.description)}</p>`}
        ${data.entity.aliases.length > 0 && html`<p class="dim">Also called ${data.entity.aliases.map(text).join(", ")}</p>`}
        ${data.others.length > 0 && html`<p>Of the same name: ${data.others.map((each) => html`<${Entity} key=${each.id} project=${project} entity=${each} /> `)}</p>`}
      </section>
      <${Relations} project=${project} title=${data.asked ? "What was asked for" : "What holds"} relations=${data.relations} />
      ${data.ended.length > 0 && html`<${Relations} project=${project} title="What held once" relations=${data.ended} />`}
      <${Around} project=${project} id=${data.entity.id} turn=${turn} />
      ${data.items.length > 0 && html`<${Card} title="Named by" note="Facts, then documents, then what happened">
        <${Evidence} project=${project} evidence=${data.items} />
      </${Card}>`}`}
  </${Asked}>`;
}

function Relations({ project, title, relations }) {
  return html`<${Card} title=${title}>
    ${relations.length
      ? html`<ul class="tree">${relations.map((each, n) => html`<li key=${n}>
          <p class="facts"><${Entity} project=${project} entity=${each.src} /><span class="tag">${text(each.type)}</span><${Entity} project=${project} entity=${each.dst} /><span class="dim">since ${day(each.validFrom)}${each.validTo !== null && `, until ${day(each.validTo)}`}</span></p>
          <${Evidence} project=${project} evidence=${each.evidence} />
        </li>`)}</ul>`
      : html`<p class="dim">Nothing that is known says so.</p>`}
  </${Card}>`;
}

function Evidence({ project, evidence }) {
  return html`<ul class="rows">${evidence.map((each, n) => html`<li key=${n}>
    ${/^[em]/.test(each.id) ? html`<${Id} project=${project} id=${each.id} />` : html`<span class="id">${text(each.id)}</span>`}
    <span class="clip">${each.text ? short(each.text, WORDS_MAX) : "An earlier reading of it said so"}</span><${SaidBy} by=${each.saidBy} />${each.ts !== null && html`<time>${moment(each.ts)}</time>`}
  </li>`)}</ul>`;
}

/** What hangs together with it, two steps deep, as a tree. */
function Around({ project, id, turn }) {
  const asked = useAsked((signal) => api.walk(project, { start: id, limit: AROUND }, signal), [project, id], turn);
  return html`<${Card} title="Around it" note="Two steps, the most mentioned first">
    <${Asked} asked=${asked} lines=${3} isEmpty=${(data) => !data.nodes.length} empty=${html`<p class="dim">Nothing hangs together with it.</p>`}>
      ${(data) => html`<${Branch} project=${project} nodes=${data.nodes} parent=${id} />
        ${data.shortened && html`<p class="dim">There is more: it has ${plural(data.relations, "relation")}.</p>`}`}
    </${Asked}>
  </${Card}>`;
}

function Branch({ project, nodes, parent }) {
  const below = nodes.filter((each) => each.parent === parent);
  if (!below.length) return null;
  return html`<ul class="tree">${below.map((each) => html`<li key=${each.entity.id}>
    <p class="facts"><span class="tag">${text(each.relation?.type)} ${each.relation?.src.id === parent ? "→" : "←"}</span><${Entity} project=${project} entity=${each.entity} /></p>
    <${Branch} project=${project} nodes=${nodes} parent=${each.entity.id} />
  </li>`)}</ul>`;
}

const Entity = ({ project, entity }) => html`<a href=${link(project, "graph", { name: entity.id })} title=${text(entity.type)}>${text(entity.name)}</a>`;
