// Server-Sent Events, read by fetch so that the token is a header. A stream that ends is asked for again, from the last
// number seen, with a pause that grows; whoever listens hears whether it stands.

import { dropToken, readToken } from "./access.js";
import { events } from "./api.js";

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 8_000;

/** Follow a project until the returned function is called: `on.event(kind, data)`, `on.state(…)` with live, refused (somebody answers, and has nothing to say), away or stranger`. */
export function follow(project, on) {
  const ending = new AbortController();
  run(project, on, ending.signal);
  return () => ending.abort();
}

async function run(project, on, signal) {
  let last = "";
  let pause = PAUSE_MS_MIN;
  while (!signal.aborted) {
    let isNobodyThere = true;
    try {
      const headers = { Authorization: "Bearer " + readToken(), Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const answer = await fetch(events(project), { headers, signal });
      isNobodyThere = false;
      if (answer.status === 401) {
        dropToken();
        on.state("stranger");
        return;
      }
      on.state(answer.ok ? "live" : "refused");
      if (answer.ok) pause = PAUSE_MS_MIN;
      for await (const message of answer.ok ? messagesOf(answer.body) : []) {
        if (message.id) last = message.id;
        if (message.event && message.data) on.event(message.event, JSON.parse(message.data));
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      if (isNobodyThere) on.state("away");
    }
    if (signal.aborted) return;
    await new Promise((then) => setTimeout(then, pause * (0.75 + Math.random() / 2)));
    pause = Math.min(PAUSE_MS_MAX, pause * 2);
  }
}

async function* messagesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value.replaceAll("\r", "");
    for (let cut; (cut = rest.indexOf("\n\n")) >= 0; rest = rest.slice(cut + 2)) yield parse(rest.slice(0, cut));
  }
}

function parse(text) {
  const message = {};
  for (const line of text.split("\n")) {
    const cut = line.indexOf(":");
    if (cut > 0) message[line.slice(0, cut)] = line.slice(cut + 1).replace(/^ /, "");
  }
  return message;
}
