// Storage: what is kept, how much room it takes, how it grows.

import { html, useMemo } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, useAsked } from "../parts/asking.js";
import { Days, lastDays, seriesOf } from "../parts/days.js";
import { Bars, Card, Figures } from "../parts/marks.js";
import { bytes, figure, plural } from "../wording.js";

const DAYS = 60;

export function Storage({ project, turn }) {
  const asked = useAsked((signal) => api.info(project, signal), [project], turn);
  const captured = useAsked((signal) => api.stats(project, DAYS, "captured", signal), [project], turn);
  const stored = useAsked((signal) => api.stats(project, DAYS, "stored", signal), [project], turn);
  return html`<${Asked} asked=${asked} lines=${8}>${(info) => html`<${Kept} info=${info} captured=${captured} stored=${stored} />`}</${Asked}>`;
}

function Kept({ info, captured, stored }) {
  const { counts, log } = info;
  const kinds = [["events", counts.events], ["summaries", counts.summaries], ["vectors", counts.embeddings], ["memories", counts.memories]];
  return html`<${Figures} of=${[
      { name: "Events", value: figure(counts.events), note: counts.raw ? `${figure(counts.raw)} not summarised yet` : "all of them summarised" },
      { name: "Log", value: bytes(log.bytes), note: plural(log.segments, "segment") },
      { name: "Hidden behind newer ones", value: figure(counts.superseded), note: "kept, found by nobody" },
    ]} />
    <${Card} title="Captured, day by day" note=${`The last ${DAYS} days`}>
      <${Asked} asked=${captured} lines=${5} isEmpty=${(data) => !data.days.length} empty=${html`<${Empty} title="Nothing in these days"><p>Captures appear here as your agents work.</p></${Empty}>`}>
        ${(data) => html`<${Growth} days=${data.days} />`}
      </${Asked}>
    </${Card}>
    <${Asked} asked=${stored} lines=${4}>${(data) => html`<${Card} title="Room on the disk" note=${bytes(sizeOf(data.storage)) + " in all"}><${Bars} label="Bytes by kind" rows=${data.storage.filter((each) => each.bytes).sort((a, b) => b.bytes - a.bytes).map((each) => ({ name: each.kind, value: each.bytes, shown: bytes(each.bytes) }))} /></${Card}>`}</${Asked}>
    <${Card} title="What is kept"><${Bars} label="Rows by kind" rows=${kinds.map(([name, n]) => ({ name, value: n, shown: figure(n) }))} /></${Card}>
    <${Card} title="Making room">
      ${captured.data?.eventsBefore > 0 && html`<p>${plural(captured.data.eventsBefore, "event is", "events are")} older than ${DAYS} days${stored.data ? `, about ${bytes((sizeOf(stored.data.storage) * captured.data.eventsBefore) / counts.events)}` : ""}: <code>mem config store.keepDays ${DAYS}</code> would forget them.</p>`}
      <p>Nothing is removed by itself. <code>mem config store.keepDays 90</code> forgets what is older than that from then on, and <code>mem prune</code> does it at once.</p>
    </${Card}>`;
}

const sizeOf = (storage) => storage.reduce((sum, each) => sum + each.bytes, 0);

function Growth({ days }) {
  const dates = useMemo(() => lastDays(DAYS), [days]);
  const series = useMemo(() => [seriesOf(dates, days, "events", "events", "accent")], [days]);
  return html`<${Days} days=${dates} series=${series} label="Events captured a day" />`;
}
