// Team: who shares this project's memory and how far each device has come, what waits here, and what would go up.

import { html, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, More, useAsked, usePaged } from "../parts/asking.js";
import { Bars, Card, Coded, Figures } from "../parts/marks.js";
import { ago, bytes, figure, moment, plural, text } from "../wording.js";

export function Team({ project, turn }) {
  const asked = useAsked((signal) => api.team(project, "false", signal), [project], turn);
  return html`<${Asked} asked=${asked} lines=${8}>
    ${(data) => (data.team ? html`<${Joined} project=${project} state=${data} turn=${turn} />` : html`<${Alone} project=${project} />`)}
  </${Asked}>`;
}

/** Nobody shares this project yet: what it would take, and what would go up. */
function Alone({ project }) {
  return html`<${Empty} title="This project is of no team">
      <p>All that is remembered stays on this machine. An invitation to a team's server is taken up in a terminal: <code>mem team join URL --project NAME</code>. It shows what would go up, and asks.</p>
    </${Empty}>
    <${WouldShare} project=${project} />`;
}

function Joined({ project, state, turn }) {
  const { team } = state;
  // What only the server knows: who has applied what.
  const told = useAsked((signal) => api.team(project, "true", signal), [project, team.problem, team.awaySince], turn);
  return html`<${Link} team=${team} lastError=${state.lastError} />
    <${Figures} of=${[
      { name: "Waiting", value: figure(team.waiting), note: team.waiting ? "since " + moment(team.waitingSince) : "all is told" },
      { name: "Not taken", value: figure(team.parked), note: team.parked ? "see below why" : "nothing was refused" },
      { name: "Shared from here", value: figure(sum(state.shared)), note: state.pushedTs ? "last " + ago(state.pushedTs) : "nothing yet" },
      { name: "From others", value: figure(sum(state.replica)), note: `${bytes(state.replicaBytes ?? 0)}, ${team.pulledTs ? "last " + ago(team.pulledTs) : "nothing yet"}` },
    ]} />
    ${state.parked?.length > 0 && html`<${Parked} parked=${state.parked} />`}
    <${Forgets} state=${told.data ?? state} />
    <${People} told=${told} />
    <${Sources} shared=${state.shared ?? {}} replica=${state.replica ?? {}} />
    <${WouldShare} project=${project} />`;
}

/** Whether all is well, and what to do where it is not. */
function Link({ team, lastError }) {
  if (team.problem) return html`<div class="standing"><p class="verdict bad" role="status">Nothing goes up or comes down</p>
    <p class="reason"><${Coded} words=${team.problem} />.</p>
    <p class="dim tally">What is here already is found as before. <code>mem team pull</code> tries again, <code>mem team join</code> takes up a new invitation, <code>mem team leave</code> takes the replica away.</p></div>`;
  if (team.awaySince) return html`<div class="standing"><p class="verdict bad" role="status">The server does not answer</p>
    <p>Since ${moment(team.awaySince)}${lastError ? html`: <${Coded} words=${lastError} />` : ""}.</p>
    <p class="dim tally">Nothing is lost: what changes here waits, and what others shared is found as before. It goes on by itself; <code>mem team status</code> says more.</p></div>`;
  return html`<div class="standing"><p class="verdict" role="status">Of the team «${text(team.name)}»</p>
    <p class="dim tally">At ${text(team.url)}. Search and recall read the copy on this machine, and never wait for it.</p></div>`;
}

function People({ told }) {
  return html`<${Card} title="People and devices" note="As the team's server says">
    <${Asked} asked=${told} lines=${4} isEmpty=${(data) => !data.members} empty=${html`<p class="dim">The server does not say now who is there.</p>`}>
      ${(data) => html`<${Members} of=${data.members} />`}
    </${Asked}>
  </${Card}>`;
}

function Members({ of }) {
  return html`<ul class="rows">${of.members.map((each, n) => html`<li key=${n}>
      <span class="clip">${text(each.name)}</span><span class="tag">${text(each.role)}</span>${each.disabled && html`<span class="tag">disabled</span>`}
    </li>`)}</ul>
    <h3>How far each device has come</h3>
    <ul class="devices">${of.devices.map((each, n) => html`<li key=${n}>
      <p class="facts"><b>${text(each.name)}</b><span>${text(each.person)}</span>${each.isThis && html`<span class="tag good">this one</span>`}<time>${each.seenAt ? "seen " + ago(each.seenAt) : "never seen"}</time></p>
      <div class="reach" role="img" aria-label=${reached(each, of.head)}><i style=${{ width: (of.head ? Math.min(100, (100 * each.seq) / of.head) : 100) + "%" }}></i></div>
      <p class="dim">${reached(each, of.head)}</p>
    </li>`)}</ul>`;
}

const reached = (device, head) => (device.seq >= head ? "has all of it" : `${plural(head - device.seq, "change")} of ${figure(head)} to go`);

const REASONS = {
  older: "the team has a later telling",
  forgotten: "it was forgotten there for good",
  "not yours": "somebody else of the team wrote it",
  conflict: "this home was copied: another device told something else under its name",
  "too large": "it is too large",
  secret: "the server's redactor found what looks like a secret in it",
  "source off": "its source is not switched on there",
  reader: "you may only read there",
  malformed: "the server cannot read it",
};

function Parked({ parked }) {
  return html`<${Card} title="Not taken by the server" note="It stays here, and holds nothing else up. What is changed is told again by itself, all of it with mem team push --all">
    <ul class="rows">${parked.map((each, n) => html`<li key=${n}>
      <code>${text(each.name)}</code><span class="clip">${REASONS[each.reason] ?? text(each.reason)}</span><time>${moment(each.since)}</time>
    </li>`)}</ul>
  </${Card}>`;
}

function Forgets({ state }) {
  const { forgetsWaiting: waiting = 0, forgets = [] } = state;
  if (!waiting && !forgets.length) return null;
  return html`<${Card} title="Forgotten, and not yet gone from every device" note="mem forget --status says the same">
    <ul class="rows">
      ${waiting > 0 && html`<li>${plural(waiting, "item")}: the team's server does not know of it yet</li>`}
      ${forgets.map((each, n) => html`<li key=${n}><span>${plural(each.items, "item")}: ${appliedBy(each)}</span><time>${moment(each.ts)}</time></li>`)}
    </ul>
  </${Card}>`;
}

/** The words of `mem forget --status`. */
const appliedBy = ({ applied, devices, behind }) => (devices
  ? [`applied by ${applied} of ${plural(devices, "device")}`, ...behind.map(([name, seen]) => `${text(name)} last seen ${seen ? ago(seen) : "never"}`)].join("; ")
  : "which devices have applied it is unknown");

function Sources({ shared, replica }) {
  const rows = [...new Set([...Object.keys(shared), ...Object.keys(replica)])].map((name) => ({
    name, value: (shared[name] ?? 0) + (replica[name] ?? 0), shown: `${figure(shared[name] ?? 0)} + ${figure(replica[name] ?? 0)}`,
  }));
  if (!rows.length) return null;
  return html`<${Card} title="By source" note="From here, and from others"><${Bars} label="Items by source" rows=${rows} /></${Card}>`;
}

/** What the configuration shares, counted, and then the very items. */
function WouldShare({ project }) {
  const asked = useAsked((signal) => api.teamPreview(project, signal), [project]);
  const [isOpen, setOpen] = useState(false);
  return html`<${Card} title="What goes up" note="Events and what tools printed never do">
    <${Asked} asked=${asked} lines=${3}>
      ${(data) => html`<${Bars} label="Items that are shared, by kind" rows=${Object.entries(data.byShare).map(([name, value]) => ({ name, value, shown: figure(value) }))} />
        <p class="dim share">About ${bytes(data.chars)} of text${data.private ? `; ${figure(data.private)} of them for you alone, on your other devices` : ""}. Chosen by <code>team.share</code>: ${data.share.map(text).join(", ")}.</p>
        <div class="acts"><button class="small" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>${isOpen ? "Hide the items" : "Show the very items"}</button></div>`}
    </${Asked}>
    ${isOpen && html`<${Items} project=${project} />`}
  </${Card}>`;
}

function Items({ project }) {
  const { first, list, more } = usePaged((cursor, signal) => api.teamItems(project, cursor, signal).then((answer) => ({ ...answer, nextCursor: answer.next })), (answer) => answer.items, [project], 0);
  return html`<${Asked} asked=${first} lines=${5} isEmpty=${() => !list?.length && !more} empty=${html`<p class="dim">There is nothing to share yet.</p>`}>
    ${() => html`<ol class="items">${list.map((each, n) => html`<li key=${n}>
      <p class="facts"><span class="tool">${text(each.share)}</span>${each.visibility === "private" && html`<span class="tag">you alone</span>`}<time>${moment(each.ts)}</time></p>
      <p class="clamp">${text(each.text)}</p>
    </li>`)}</ol><${More} more=${more} />`}
  </${Asked}>`;
}

const sum = (counts) => Object.values(counts ?? {}).reduce((all, each) => all + each, 0);
