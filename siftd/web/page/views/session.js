// One session from its end backwards: its calls, its turns, and what it was given between them.

import { html, useEffect } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, More, useAsked, usePaged } from "../parts/asking.js";
import { Lane, Legend } from "../parts/lane.js";
import { Id, SaidBy, Tool } from "../parts/marks.js";
import { link } from "../routing.js";
import { day, moment, precise, text } from "../wording.js";

const PAGE = 100;

export function Session({ project, query, turn }) {
  const paged = usePaged((cursor, signal) => api.timeline(project, { session: query.id, before: PAGE, cursor }, signal), (answer) => answer.events, [project, query.id], turn);
  const given = useAsked((signal) => api.injections(project, { session: query.id, limit: 200 }, signal), [project, query.id], turn);
  useEffect(() => {
    if (paged.list && query.at) document.getElementById(query.at)?.scrollIntoView({ block: "center" });
  }, [Boolean(paged.list), query.at]);
  const nothing = html`<${Empty} title="This session is not here">
    <p>It was forgotten, or belongs to another project. <a href=${link(project, "sessions")}>All sessions</a></p>
  </${Empty}>`;
  return html`<p class="back"><a href=${link(project, "sessions")}>← All sessions</a></p>
    <${Asked} asked=${paged.first} lines=${8} isEmpty=${(data) => !data.events.length} empty=${nothing}>
      ${() => html`<${Whole} project=${project} events=${paged.list} given=${given.data?.injections ?? []} goals=${paged.first.data.goals ?? []} at=${query.at} />
        <${More} more=${paged.more} />`}
    </${Asked}>`;
}

function Whole({ project, events, given, goals, at }) {
  const ordered = [...events].sort((a, b) => b.eventId - a.eventId);
  const first = ordered[ordered.length - 1];
  const steps = [...events.map((event) => ({ event, at: event.eventId })), ...given.map((gift) => ({ gift, at: gift.afterId + 0.5 }))].sort((a, b) => b.at - a.at);
  return html`<div class="session">
    ${goals.length > 0 && html`<ul class="goals">${goals.map((goal) => html`<li key=${goal.id}><p>${text(goal.asked) || "A word"}</p><p class="dim">${text(goal.outcome)}</p></li>`)}</ul>`}
    <${Legend} />
    <${Lane} lane=${{ events, given }} />
    <p class="dim tally">${day(first.ts)} · newest first</p>
    <ol class="story">${steps.map(({ event, gift }) => (gift ? html`<${Gift} key=${"given-" + gift.id} project=${project} gift=${gift} />` : html`<${Step} key=${event.eventId} project=${project} event=${event} isAt=${at === "e" + event.eventId} />`))}</ol>
  </div>`;
}

function Gift({ project, gift }) {
  return html`<li class="step gift">
      <time>${precise(gift.ts)}</time>
      <div><p class="facts"><span class=${"tag" + (gift.touchedBy ? " good" : "")}>${gift.touchedBy ? "given, then used" : "given"}</span><${Id} project=${project} id=${text(gift.piece)} /></p>
        <p>${gift.text === null ? "It is gone by now." : text(gift.text)}</p></div>
    </li>`;
}

function Step({ project, event, isAt }) {
  const id = "e" + event.eventId;
  const isFailed = event.outcome === "failed";
  return html`<li id=${id} class=${"step" + (isFailed ? " failed" : "") + (event.eventKind === "prompt" ? " prompt" : "") + (isAt ? " here" : "")}>
      <time title=${moment(event.ts)}>${precise(event.ts)}</time>
      <div><p class="facts"><${Id} project=${project} id=${id} /><${Tool} name=${event.tool} isFailed=${isFailed} /><${SaidBy} by=${event.saidBy} /></p>
        <p>${text(event.text)}</p></div>
    </li>`;
}
