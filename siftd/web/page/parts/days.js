// A chart over days, drawn by uPlot on a canvas; what it shows stands beside it as a table for whoever cannot see it.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact/htm-preact.js";
import { figure } from "../wording.js";

const HEIGHT = 200;

/** The dates of the last so many days, by this machine's clock, as the answers write them. */
export function lastDays(count) {
  const now = new Date();
  return Array.from({ length: count }, (_, n) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1 - n));
    return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  });
}

/** A series over dates out of the days that an answer names; what it does not name had nothing. */
export function seriesOf(dates, days, key, name, color) {
  const known = new Map(days.map((each) => [each.day, each[key]]));
  return { name, color, values: dates.map((date) => known.get(date) ?? 0) };
}

/** Columns over days: `days` are dates (2026-11-25), `series` [{name, values, color}] with a name of the style sheet's colours. */
export function Days({ days, series, label, form = figure, isLine = false }) {
  const at = useRef();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => setTurn((n) => n + 1);
    dark.addEventListener("change", redraw);
    return () => dark.removeEventListener("change", redraw);
  }, []);
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue("--" + name).trim();
    const font = "12px " + style.getPropertyValue("--sans");
    const axis = { stroke: color("dim"), font, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: at.current.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        padding: [12, 16, 0, 0],
        scales: { x: { range: (_, from, to) => [from - 43_200, to + 43_200] }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 70, size: 28, values: (_, ticks) => ticks.map(dayOf), incrs: [1, 2, 3, 7, 14, 28, 56].map((n) => n * 86_400) },
          { ...axis, grid: { stroke: color("line"), width: 1 }, size: 56, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? form(tick) : "")) },
        ],
        series: [
          {},
          ...series.map((each) => ({
            stroke: color(each.color),
            width: isLine ? 2 : 0,
            fill: isLine ? color(each.color) + "22" : color(each.color),
            points: { show: false },
            paths: isLine ? undefined : uPlot.paths.bars({ size: [0.7, 28], radius: 0.2 }),
          })),
        ],
      },
      [days.map((each) => Date.parse(each + "T12:00:00Z") / 1000), ...series.map((each) => each.values)],
      at.current,
    );
    const watch = new ResizeObserver(() => at.current && plot.setSize({ width: at.current.clientWidth, height: HEIGHT }));
    watch.observe(at.current);
    return () => { watch.disconnect(); plot.destroy(); };
  }, [days, series, turn]);
  return html`<figure class="days">
    ${series.length > 1 && html`<figcaption class="legend">${series.map((each) => html`<span key=${each.name}><i class=${"swatch " + each.color}></i>${each.name}</span>`)}</figcaption>`}
    <div class="plot" ref=${at} role="img" aria-label=${label}></div>
    <details class="as-table"><summary>As a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-label=${label + ", as a table"}><table>
        <thead><tr><th scope="col">Day</th>${series.map((each) => html`<th scope="col" key=${each.name}>${each.name}</th>`)}</tr></thead>
        <tbody>${days.map((each, n) => html`<tr key=${each}><th scope="row">${each}</th>${series.map((one) => html`<td key=${one.name}>${form(one.values[n])}</td>`)}</tr>`)}</tbody>
      </table></div>
    </details>
  </figure>`;
}

const form = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const dayOf = (seconds) => form.format(seconds * 1000);
