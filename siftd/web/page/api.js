// Asking the server: the one place that knows its routes. Answers are what the daemon's requests answer
// (siftd/wire/requests); a refusal is `{error: {code, message, hint}}` and becomes a Refused.

import { dropToken, readToken } from "./access.js";

/** The server said no, or nobody answered: `code`, a message for a person, and what to do. */
export class Refused extends Error {
  constructor(status, code, message, hint) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

const away = () => new Refused(0, "away", "The process of this page does not answer.", "Run `mem web` again; this page goes on by itself.");

let onStranger = () => {};
/** Be told when the token is known no more. */
export const whenStranger = (then) => { onStranger = then; };

/** Send a request and return the answer's JSON; raises Refused. */
export async function send(method, path, { query = {}, body, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const url = path + (given.length ? "?" + new URLSearchParams(given) : "");
  const headers = { Authorization: "Bearer " + readToken() };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  let told;
  try {
    answer = await fetch(url, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
    told = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (!answer || answer.ok) throw away();
  }
  if (answer.ok) return told;
  if (answer.status === 401) {
    dropToken();
    onStranger();
  }
  const { code = "refused", message = "The server answered " + answer.status + ".", hint = "", ...rest } = told?.error ?? {};
  throw Object.assign(new Refused(answer.status, code, message, hint), { told: { ...told, ...rest } });
}

const get = (path, query, signal) => send("GET", path, { query, signal });
const of = (project, rest) => `/api/projects/${encodeURIComponent(project)}/${rest}`;
const id = encodeURIComponent;

export const projects = () => get("/api/projects");
export const info = (project, signal) => get(of(project, "info"), {}, signal);
export const doctor = (project, signal) => get(of(project, "doctor"), {}, signal);
export const search = (project, query, signal) => get(of(project, "memory/search"), { ...query, explain: "true" }, signal);
export const sessions = (project, query, signal) => get(of(project, "sessions"), query, signal);
export const timeline = (project, query, signal) => get(of(project, "timeline"), query, signal);
export const item = (project, which, signal) => get(of(project, "items/" + id(which)), {}, signal);
export const memories = (project, query, signal) => get(of(project, "memories"), query, signal);
export const memoryHealth = (project, signal) => get(of(project, "memory/health"), {}, signal);
export const injections = (project, query, signal) => get(of(project, "injections"), query, signal);
export const entities = (project, query, signal) => get(of(project, "entities"), query, signal);
export const entity = (project, query, signal) => get(of(project, "entity"), query, signal);
export const walk = (project, query, signal) => get(of(project, "walk"), query, signal);
export const why = (project, which, signal) => get(of(project, "why/" + id(which)), {}, signal);
export const stats = (project, days, part, signal) => get(of(project, "stats"), { days, part }, signal);

/** How it stands with the team; with `ask` its server says who is there. */
export const team = (project, ask, signal) => get(of(project, "team"), { ask }, signal);
export const teamPreview = (project, signal) => get(of(project, "team/preview"), {}, signal);
export const teamItems = (project, after, signal) => get(of(project, "team/items"), { after }, signal);

export const mute = (project, which, muted) => send("POST", of(project, "memory/mute"), { body: { id: which, muted } });
export const remember = (project, note) => send("POST", of(project, "memory"), { body: note });
export const update = (project, which, change) => send("POST", of(project, "memory/update"), { body: { id: which, ...change } });
export const supersede = (project, which, text) => send("POST", of(project, "memory/supersede"), { body: { id: which, text } });
export const accept = (project, which) => send("POST", of(project, "memory/accept"), { body: { id: which } });
export const feedback = (project, which, verdict) => send("POST", of(project, "memory/feedback"), { body: { id: which, verdict } });

/** What a forget would take, and the value that confirms exactly this: {confirm, matched, byKind, left}. */
export async function weighForget(project, which) {
  try {
    return await send("DELETE", "/api/memory/" + id(which), { query: { project } });
  } catch (refused) {
    if (refused.status === 409 && refused.told) return refused.told;
    throw refused;
  }
}
export const forget = (project, which, confirm) => send("DELETE", "/api/memory/" + id(which), { query: { project, confirm } });
export const events = (project) => of(project, "events");
