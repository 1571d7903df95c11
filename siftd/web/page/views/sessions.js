// Sessions as lanes: a tick a tool call, and above it what the session was given there.

import { html, useCallback, useEffect, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Asked, Empty, More, usePaged } from "../parts/asking.js";
import { Lane, Legend, spanOf } from "../parts/lane.js";
import { link } from "../routing.js";
import { ago, lasted, moment, plural, short, text } from "../wording.js";
import { Session } from "./session.js";

const PAGE = 12;
const TICKS_MAX = 160;

export const Sessions = (props) => (props.query.id ? html`<${Session} ...${props} />` : html`<${List} ...${props} />`);

function List({ project, turn }) {
  const paged = usePaged((cursor, signal) => api.sessions(project, { limit: PAGE, cursor }, signal), (answer) => answer.sessions, [project], turn);
  const [spans, setSpans] = useState({});
  const measured = useCallback((id, span) => setSpans((known) => (known[id] === span ? known : { ...known, [id]: span })), []);
  const longest = Math.max(0, ...Object.values(spans));
  const nothing = html`<${Empty} title="No session yet">
    <p>Run <code>mem install</code> and work with your agent. Sessions from before come with <code>mem backfill</code>.</p>
  </${Empty}>`;
  return html`<${Legend} />
    <${Asked} asked=${paged.first} lines=${6} isEmpty=${(data) => !data.sessions.length} empty=${nothing}>
      ${() => html`<ol class="lanes">${paged.list.map((session) => html`<${Row} key=${session.sessionId} project=${project} session=${session} longest=${longest} onMeasured=${measured} />`)}</ol>
        <${More} more=${paged.more} />`}
    </${Asked}>`;
}

function Row({ project, session, longest, onMeasured }) {
  const lane = useLane(project, session);
  useEffect(() => { if (lane) onMeasured(session.sessionId, spanOf(lane.events)); }, [lane]);
  const spent = session.lastTs - session.startedTs;
  return html`<li class="lane-row">
    <div class="lane-head">
      <a class="lane-title" href=${link(project, "sessions", { id: session.sessionId })}>${short(session.asked || session.summary || "Nothing was asked", 90)}</a>
      <p class="dim"><time title=${moment(session.startedTs)}>${ago(session.startedTs)}</time> · ${lasted(spent)} · ${plural(session.events, "event")}${session.client ? " · " + text(session.client) : ""}</p>
    </div>
    <${Lane} lane=${lane} longest=${longest} />
  </li>`;
}

/** The calls of a session and what it was given; asked once for as long as nothing is added to it. */
function useLane(project, session) {
  const [lane, setLane] = useState(null);
  useEffect(() => {
    const ending = new AbortController();
    Promise.all([
      api.timeline(project, { session: session.sessionId, before: TICKS_MAX }, ending.signal),
      api.injections(project, { session: session.sessionId, limit: 50 }, ending.signal),
    ]).then(([told, given]) => setLane({ events: told.events, given: given.injections }), () => {});
    return () => ending.abort();
  }, [project, session.sessionId, session.events]);
  return lane;
}
