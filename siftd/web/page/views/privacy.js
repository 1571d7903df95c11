// Privacy: what was replaced before anything was written, what left the machine, and what is not recorded at all.

import { html, useMemo } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, useAsked } from "../parts/asking.js";
import { Days, lastDays, seriesOf } from "../parts/days.js";
import { Bars, Card, Figures } from "../parts/marks.js";
import { Strips } from "../parts/strips.js";
import { figure, moment, plural, text } from "../wording.js";

const DAYS = 60;

export function Privacy({ project, turn }) {
  const asked = useAsked((signal) => api.info(project, signal), [project], turn);
  const stats = useAsked((signal) => api.stats(project, DAYS, "replaced", signal), [project], turn);
  return html`<${Asked} asked=${asked} lines=${8}>
    ${(info) => html`<${Shown} info=${info} stats=${stats} />`}
  </${Asked}>`;
}

function Shown({ info, stats }) {
  const rules = Object.entries(info.redactions).filter(([, n]) => n).sort((a, b) => b[1] - a[1]);
  const hidden = rules.reduce((sum, [, n]) => sum + n, 0);
  const remote = (stats.data?.spent ?? info.tokens?.byBackend ?? []).filter((each) => each.isRemote);
  const left = remote.reduce((sum, each) => sum + each.tokens, 0);
  return html`<${Figures} of=${[
      { name: "Replaced", value: figure(hidden), note: "before it was written" },
      { name: "Left this machine", value: figure(left), note: `tokens to models elsewhere, in ${DAYS} days` },
      { name: "Not recorded", value: figure(info.captures.off ?? 0), note: "captures, as you asked" },
    ]} />
    <${Card} title="Replaced, by rule and day" note=${`In what is stored of the last ${DAYS} days; each leaves a placeholder such as [REDACTED:email:009e]`}>
      <${Asked} asked=${stats} lines=${5}>${(data) => html`<${Replaced} of=${data} ever=${rules} />`}</${Asked}>
    </${Card}>
    <${Card} title="What leaves this machine">
      ${remote.length ? html`<${Bars} label="Tokens by backend" rows=${remote.map((each) => ({ name: each.backend, value: each.tokens, shown: plural(each.tokens, "token") }))} />
        <p class="dim">${figure(info.tokens?.left)} of ${figure(info.tokens?.cap)} tokens are left for today.</p>` : html`<p>Nothing. Summaries are made by <b>${text(info.backend.name)}</b> and vectors by <b>${text(info.embedder.name)}</b>, on this machine.</p>`}
    </${Card}>
    <${Card} title="What is not recorded">
      <ul class="plain">
        <li>${info.pausedSince ? `All capture is paused since ${moment(info.pausedSince)}. ` : "Capture is on. "}${info.pausedSince ? html`<code>mem resume</code> goes on.` : html`<code>mem pause</code> stops it for now.`}</li>
        ${(info.pausedSessions ?? []).map((each) => html`<li key=${each.sessionId}>One session is left out since ${moment(each.since)}.</li>`)}
        <li><code>mem exclude PATH</code> leaves a folder out; <code>SIFTD_OFF=1</code> before a command leaves a whole session out.</li>
        ${info.forget.pending.length > 0 && html`<li>What you forgot is still held by: ${info.forget.pending.map(text).join(", ")}.</li>`}
      </ul>
    </${Card}>`;
}

function Replaced({ of, ever }) {
  const dates = useMemo(() => lastDays(DAYS), [of]);
  const series = useMemo(() => [seriesOf(dates, of.days, "replaced", "replaced", "accent")], [of]);
  const rows = of.replaced.map((each) => ({ name: each.rule, total: each.replaced, days: new Map(each.days.map((one) => [one.day, one.replaced])) }));
  const before = ever.filter(([name]) => !rows.some((row) => row.name === name));
  if (!rows.length && !before.length) return html`<p class="dim">No secret has come by yet. Tokens, keys, passwords, the values of your .env files, emails and phone numbers are replaced when they do.</p>`;
  return html`${rows.length > 0 && html`<${Days} days=${dates} series=${series} label="Replacements a day, in what is stored" />
      <${Strips} days=${dates} rows=${rows} things="Replacements" label="Replacements by rule and day" />`}
    ${before.length > 0 && html`<p class="dim">Before that, or in what is forgotten by now: ${before.map(([name, n]) => `${text(name)} ${figure(n)}`).join(", ")}.</p>`}`;
}
