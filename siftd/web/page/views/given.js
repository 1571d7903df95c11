// Given and used: what agents were given unasked, week by week, and the pieces that were given often and never used.

import { html, useMemo, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, More, Trouble, usePaged } from "../parts/asking.js";
import { Card, Figures, Id } from "../parts/marks.js";
import { day, figure, plural, share, text } from "../wording.js";

const PAGE = 500;
const WEEK_MS = 7 * 86_400_000;
const WORST = 8;

export function Given({ project, turn }) {
  const [said, setSaid] = useState("");
  const [changes, setChanges] = useState(0);
  const paged = usePaged((cursor, signal) => api.injections(project, { limit: PAGE, cursor }, signal), (answer) => answer.injections, [project, turn, changes]);
  const nothing = html`<${Empty} title="No agent was given anything yet">
    <p>A session's start and each prompt may bring a piece of what was learnt before. It begins with the second session: run <code>mem doctor</code> to see whether the hooks are in place.</p>
  </${Empty}>`;
  const done = (sentence) => { setSaid(sentence); setChanges(changes + 1); };
  return html`<p class="said" role="status">${said}</p>
    <${Asked} asked=${paged.first} lines=${8} isEmpty=${(data) => !data.injections.length} empty=${nothing}>
      ${() => html`<${Judged} project=${project} list=${paged.list} isWhole=${!paged.more} onDone=${done} /><${More} more=${paged.more} />`}
    </${Asked}>`;
}

function Judged({ project, list, isWhole, onDone }) {
  const weeks = useMemo(() => byWeek(list), [list]);
  const worst = useMemo(() => offenders(list), [list]);
  const used = list.filter((each) => each.touchedBy).length;
  return html`<${Figures} of=${[
      { name: "Given", value: figure(list.length), note: isWhole ? "in all" : "the latest" },
      { name: "Then used", value: figure(used), note: share(used, list.length) + " of what was given" },
      { name: "Sessions", value: figure(new Set(list.map((each) => each.sessionId)).size), note: "were given something" },
    ]} />
    <${Card} title="Week by week" note="Used: the session then worked on what the piece names, or asked for it">
      <ul class="legend"><li><i class="swatch accent"></i>used</li><li><i class="swatch quiet"></i>not used</li></ul>
      <ol class="weeks">${weeks.map((week) => html`<li key=${week.from}>
        <span class="week">${day(week.from)}</span>
        <span class="stack" role="img" aria-label=${`${week.used} of ${week.given} used`}><i class="accent" style=${{ width: week.usedShare + "%" }}></i><i class="quiet" style=${{ width: week.restShare + "%" }}></i></span>
        <span class="bar-figure">${week.used} / ${week.given}</span>
      </li>`)}</ol>
    </${Card}>
    <${Card} title="Given often, never used" note="Each takes room in the agent's context for nothing">
      ${worst.length ? html`<ul class="worst">${worst.map((each) => html`<${Offender} key=${each.piece} project=${project} of=${each} onDone=${onDone} />`)}</ul>` : html`<p class="dim">None: whatever was given twice was used.</p>`}
    </${Card}>`;
}

function Offender({ project, of, onDone }) {
  const [error, setError] = useState(null);
  const stop = async () => {
    try {
      await api.feedback(project, of.piece, "outdated");
      onDone(`${of.piece} is given to nobody any more. It stays as history.`);
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<li>
    <p class="facts"><${Id} project=${project} id=${of.piece} /><span class="tag">given ${plural(of.given, "time")}</span></p>
    <p class="clamp">${text(of.text) || "It is gone by now."}</p>
    ${of.memoryId !== null && of.text !== null && html`<button class="small" onClick=${stop}>Stop giving this</button>`}
    ${error && html`<${Trouble} error=${error} />`}
  </li>`;
}

function byWeek(list) {
  const weeks = new Map();
  for (const each of list) {
    const from = Math.floor(each.ts / WEEK_MS) * WEEK_MS;
    const week = weeks.get(from) ?? { from, given: 0, used: 0 };
    week.given += 1;
    week.used += each.touchedBy ? 1 : 0;
    weeks.set(from, week);
  }
  const most = Math.max(...[...weeks.values()].map((week) => week.given));
  return [...weeks.values()].sort((a, b) => b.from - a.from).map((week) => ({ ...week, usedShare: (100 * week.used) / most, restShare: (100 * (week.given - week.used)) / most }));
}

function offenders(list) {
  const pieces = new Map();
  for (const each of list) {
    const known = pieces.get(each.piece) ?? { piece: text(each.piece), text: each.text, memoryId: each.memoryId, given: 0, used: 0 };
    known.given += 1;
    known.used += each.touchedBy ? 1 : 0;
    pieces.set(each.piece, known);
  }
  return [...pieces.values()].filter((each) => each.given > 1 && !each.used).sort((a, b) => b.given - a.given).slice(0, WORST);
}
