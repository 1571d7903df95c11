// Given and used: what agents were given unasked, week by week, and the pieces that were given often and seldom used.

import { html, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, More, Trouble, useAsked, usePaged } from "../parts/asking.js";
import { Card, Figures, Id } from "../parts/marks.js";
import { link } from "../routing.js";
import { day, figure, moment, plural, share, text } from "../wording.js";

const DAYS = 90;
const PAGE = 20;

export function Given({ project, turn }) {
  const [said, setSaid] = useState("");
  const [changes, setChanges] = useState(0);
  const asked = useAsked((signal) => api.stats(project, DAYS, "given", signal), [project], `${turn} ${changes}`);
  const nothing = html`<${Empty} title="No agent was given anything yet">
    <p>A session's start and each prompt may bring a piece of what was learnt before. It begins with the second session; <a href=${link(project, "health")}>Health</a> says whether the hooks are in place.</p>
  </${Empty}>`;
  const done = (sentence) => { setSaid(sentence); setChanges(changes + 1); };
  return html`<p class="said" role="status">${said}</p>
    <${Asked} asked=${asked} lines=${8} isEmpty=${(data) => !data.injections.pieces} empty=${nothing}>
      ${(data) => html`<${Judged} project=${project} of=${data} onDone=${done} /><${Latest} project=${project} turn=${turn} />`}
    </${Asked}>`;
}

function Judged({ project, of, onDone }) {
  const { injections: given, weeks, offenders } = of;
  const most = Math.max(1, ...weeks.map((week) => week.pieces));
  return html`<${Figures} of=${[
      { name: "Given", value: figure(given.pieces), note: plural(given.pieces, "piece").replace(/^\S+ /, "") },
      { name: "Then used", value: figure(given.touched), note: share(given.touched, given.pieces) + " of what was given" },
      { name: "Sessions", value: figure(given.sessions), note: "were given something" },
    ]} />
    <${Card} title="Week by week" note="Used: the session then worked on what the piece names, or asked for it">
      <ul class="legend"><li><i class="swatch accent"></i>used</li><li><i class="swatch quiet"></i>not used</li></ul>
      <ol class="weeks">${[...weeks].sort((a, b) => (a.week < b.week ? 1 : -1)).map((week) => html`<li key=${week.week}>
        <span class="week">${day(Date.parse(week.week))}</span>
        <span class="stack" role="img" aria-label=${`${week.touched} of ${week.pieces} used`}>
          ${week.touched > 0 && html`<i class="accent" style=${{ width: (100 * week.touched) / most + "%" }}></i>`}
          ${week.pieces > week.touched && html`<i class="quiet" style=${{ width: (100 * (week.pieces - week.touched)) / most + "%" }}></i>`}
        </span>
        <span class="bar-figure">${week.touched} / ${week.pieces}</span>
      </li>`)}</ol>
    </${Card}>
    <${Card} title="Given often, seldom used" note="Each takes room in the agent's context for little">
      ${offenders.length ? html`<ul class="worst">${offenders.map((each) => html`<${Offender} key=${each.piece} project=${project} of=${each} onDone=${onDone} />`)}</ul>` : html`<p class="dim">None: nothing was given twice in vain.</p>`}
    </${Card}>`;
}

function Offender({ project, of, onDone }) {
  const [error, setError] = useState(null);
  const isMemory = /^[mg]\d/.test(of.piece);
  const stop = async () => {
    try {
      if (isMemory) await api.feedback(project, of.piece, "outdated");
      else await api.mute(project, of.piece, true);
      onDone(`${of.piece} is given to nobody unasked any more. ${isMemory ? "It stays as history." : "A search finds it as before; Why lets it be given again."}`);
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<li>
    <p class="facts"><${Id} project=${project} id=${of.piece} /><span class="tag">given ${plural(of.given, "time")}, used ${figure(of.touched)}</span><time>last ${day(of.lastTs)}</time></p>
    <p class="clamp">${text(of.text) || "It is gone by now."}</p>
    ${of.text !== null && html`<button class="small" onClick=${stop}>Stop giving this</button>`}
    ${error && html`<${Trouble} error=${error} />`}
  </li>`;
}

function Latest({ project, turn }) {
  const paged = usePaged((cursor, signal) => api.injections(project, { limit: PAGE, cursor }, signal), (answer) => answer.injections, [project], turn);
  return html`<${Card} title="Given lately">
    <${Asked} asked=${paged.first}>
      ${() => html`<ul class="rows">${paged.list.map((each) => html`<li key=${each.id}>
        <${Id} project=${project} id=${text(each.piece)} />
        <span class="clip">${text(each.text) || "Gone by now"}</span>
        <span class=${"tag" + (each.touchedBy ? " good" : "")}>${each.touchedBy ? "used" : "not used"}</span>
        <a href=${link(project, "sessions", { id: each.sessionId, at: "e" + each.afterId })}>${moment(each.ts)}</a>
      </li>`)}</ul><${More} more=${paged.more} />`}
    </${Asked}>
  </${Card}>`;
}
