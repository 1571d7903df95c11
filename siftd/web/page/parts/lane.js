// One session drawn on a line. Time runs to the right; a pause is drawn short, so that a night between two prompts does
// not press the work into two points.

import { html } from "../vendor/htm-preact/htm-preact.js";
import { plural, text } from "../wording.js";

const GAP_MS_MIN = 4_000;
const GAP_MS_MAX = 60_000;
const EDGE = 1.5;
const WIDTH_MIN = 12;
const KINDS = { edit: "edit", write: "edit", run: "run", read: "read", search: "read", web: "read" };

/** A session's `lane` {events, given}; `longest` is the span of what it is drawn beside, so that a short session is short. */
export function Lane({ lane, longest }) {
  if (!lane) return html`<div class="lane-box" aria-hidden="true"></div>`;
  const isNarrow = matchMedia("(max-width: 560px)").matches;
  const width = longest && !isNarrow ? Math.min(100, Math.max(WIDTH_MIN, lane.events.length, (100 * spanOf(lane.events)) / longest)) : 100;
  const places = place(lane.events, width);
  const failed = lane.events.filter((event) => event.outcome === "failed").length;
  const used = lane.given.filter((each) => each.touchedBy).length;
  const label = `${plural(lane.events.length, "event")}, ${failed} failed; given ${plural(lane.given.length, "piece")}, ${used} then used`;
  return html`<svg class="lane-box" role="img" aria-label=${label}>
    <rect class="lane-line" x="0" y="16" width=${width + "%"} height="28" rx="8" />
    ${lane.events.map((event) => html`<${Tick} key=${event.eventId} event=${event} x=${places.get(event.eventId)} />`)}
    ${stack(lane.given, places).map(({ each, x, n }) => html`<circle key=${each.id} class=${each.touchedBy ? "given used" : "given"} cx=${x + "%"} cy="8" r="4" transform=${`translate(${n * 10} 0)`}><title>${text(each.piece)}: ${each.touchedBy ? "then used" : "not used"}</title></circle>`)}
  </svg>`;
}

function Tick({ event, x }) {
  const isFailed = event.outcome === "failed";
  const kind = isFailed ? "failed" : event.eventKind === "prompt" ? "prompt" : event.eventKind === "tool" ? (KINDS[event.action] ?? "other") : "end";
  const [y, height] = kind === "prompt" ? [18, 24] : isFailed ? [20, 20] : [23, 14];
  return html`<rect class=${"tick " + kind} x=${x + "%"} y=${y} width="4" height=${height} rx="2" transform="translate(-2 0)"><title>${text(event.tool)}${isFailed ? ", failed" : ""}</title></rect>`;
}

/** How long a session is drawn. */
export function spanOf(events) {
  const times = [...events].sort((a, b) => a.eventId - b.eventId).map((event) => event.ts);
  return times.slice(1).reduce((sum, ts, n) => sum + drawn(ts - times[n]), 0);
}

const drawn = (gap) => Math.min(GAP_MS_MAX, Math.max(GAP_MS_MIN, gap));

function place(events, width) {
  const places = new Map();
  let at = 0;
  let before;
  for (const event of [...events].sort((a, b) => a.eventId - b.eventId)) {
    if (before !== undefined) at += drawn(event.ts - before);
    before = event.ts;
    places.set(event.eventId, at);
  }
  for (const [id, value] of places) places.set(id, at ? EDGE + ((width - 2 * EDGE) * value) / at : EDGE);
  return places;
}

/** Pieces that were given at one place stand beside each other. */
function stack(given, places) {
  const ids = [...places.keys()];
  const counts = new Map();
  return [...given].reverse().map((each) => {
    const x = places.get(each.afterId) ?? places.get(ids.find((id) => id > each.afterId)) ?? EDGE;
    const n = counts.get(x) ?? 0;
    counts.set(x, n + 1);
    return { each, x, n };
  });
}

const MARKS = [["prompt", "Prompt"], ["edit", "Edit"], ["run", "Run"], ["read", "Read"], ["failed", "Failed"], ["given", "Given"], ["given used", "Then used"]];

export const Legend = () => html`<ul class="legend" aria-label="What the marks mean">
  ${MARKS.map(([kind, name]) => html`<li key=${kind}><svg width="10" height="14" aria-hidden="true">${kind.startsWith("given") ? html`<circle class=${kind} cx="5" cy="7" r="4" />` : html`<rect class=${"tick " + kind} x="3.5" y="0" width="3" height="14" rx="1.5" />`}</svg>${name}</li>`)}
</ul>`;
