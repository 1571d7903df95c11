// The links of the chain from a tool call to a search, as the daemon's own state tells them: {link, state, message, remedy}.

import { figure, moment, plural, text } from "../wording.js";

const well = (link, message) => ({ link, state: "ok", message, remedy: null });
const note = (link, message, remedy) => ({ link, state: "note", message, remedy });
const problem = (link, message, remedy) => ({ link, state: "problem", message, remedy });

/** Say what there is to say about each link. */
export function linksOf(info) {
  return [config(info), daemon(info), ...captures(info), log(info), ...summaries(info), vectors(info), ...erasing(info), ...info.problems.map((each) => problem("store", text(each), "run `mem doctor`"))];
}

function config({ config }) {
  return config.problem ? problem("settings", text(config.problem), "mend it, then `mem stop` and `mem start`") : well("settings", "every setting is valid");
}

function daemon({ daemon, pausedSince }) {
  if (!daemon.running) return problem("daemon", "does not run", "run `mem start`");
  return pausedSince ? note("daemon", "capture is paused since " + moment(pausedSince), "run `mem resume`") : well("daemon", "runs and captures");
}

function captures({ captures: counts, rejections, spool }) {
  const told = rejections.map((each) => note("captures", `${figure(each.count)} rejected (${text(each.reason)}), last ${moment(each.lastTs)}`, "see `mem logs`"));
  const waiting = spool.files ? [note("spool", plural(spool.files, "capture") + " waits for the daemon", "each start and tick takes them in")] : [];
  return [well("captures", plural(counts.accepted, "capture") + " kept"), ...told, ...waiting];
}

function log({ log: state }) {
  if (state.refusing) return problem("log", "cannot be written: " + text(state.refusing), "make room on the disk; it goes on by itself");
  return state.behind ? note("log", "the store is behind the log", "it catches up by itself") : well("log", plural(state.segments, "segment") + ", whole");
}

function summaries({ backend, counts, parked }) {
  const told = parked.map((each) => note("summaries", `${figure(each.count)} events ${text(each.status)}: ${text(each.reason)}`, "run `mem retry`"));
  if (backend.state !== "ready") return [problem("summaries", `${text(backend.name)} is ${text(backend.state)}${backend.lastError ? ": " + text(backend.lastError) : ""}`, "run `mem doctor`"), ...told];
  return [well("summaries", `by ${text(backend.name)}; ${figure(counts.raw)} still to do`), ...told];
}

function vectors({ embedder }) {
  return embedder.state === "ready" ? well("vectors", "by " + text(embedder.name)) : note("vectors", `${text(embedder.name)} is ${text(embedder.state)}`, "run `mem doctor`");
}

function erasing({ forget }) {
  return forget.pending.length ? [note("forgetting", "still held by: " + forget.pending.map(text).join(", "), "it goes on by itself")] : [];
}
