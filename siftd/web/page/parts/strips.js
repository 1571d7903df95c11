// A row for each name with a small column a day: what came when, many beside each other on one scale of days.

import { html } from "../vendor/htm-preact/htm-preact.js";
import { figure, plural, text } from "../wording.js";

const HEIGHT = 28;
const WIDTH = 6;
const GAP = 1;
const LEAST = 2;

/** Rows [{name, total, days: Map of a date to a number}] over the dates of `days`; each row has its own scale. */
export function Strips({ days, rows, label, things }) {
  return html`<dl class="bars" aria-label=${label}>
    ${rows.map((row) => html`<div class="bar-row strip-row" key=${row.name}>
      <dt>${text(row.name)}</dt>
      <dd><${Strip} days=${days} of=${row.days} label=${`${things} by ${text(row.name)}: ${said(days, row.days)}`} /></dd>
      <dd class="bar-figure">${figure(row.total)}</dd>
    </div>`)}
  </dl>`;
}

function Strip({ days, of, label }) {
  const most = Math.max(1, ...of.values());
  return html`<svg class="strip" viewBox=${`0 0 ${days.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    ${days.map((day, n) => {
      const number = of.get(day) ?? 0;
      const height = number ? Math.max(LEAST, (HEIGHT * number) / most) : LEAST / 2;
      return html`<rect key=${day} class=${number ? "some" : "none"} x=${n * WIDTH} y=${HEIGHT - height} width=${WIDTH - GAP} height=${height} />`;
    })}
  </svg>`;
}

function said(days, of) {
  const busiest = days.reduce((best, day) => ((of.get(day) ?? 0) > (of.get(best) ?? 0) ? day : best), days[0]);
  return `on ${plural(of.size, "day")}, most on ${busiest} (${figure(of.get(busiest) ?? 0)})`;
}
