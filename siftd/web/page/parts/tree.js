// What a piece stands on, grown from one thing after the other: memory, summary, event, prompt.

import { short, text } from "../wording.js";
import { toolName } from "./marks.js";

const DEPTH_MAX = 5;
const CHILDREN_MAX = 8;
const THINGS_MAX = 40;
const WORDS_MAX = 400;

/** Ask for the piece and what it stands on; `ask(id)` answers {item}. What was met already is named, not grown again. */
export async function growTree(ask, id) {
  const met = new Set([id]);
  const root = describe((await ask(id)).item, id);
  await grow(ask, root, met, 1);
  return root;
}

async function grow(ask, node, met, depth) {
  const ids = node.below;
  node.left = Math.max(0, ids.length - CHILDREN_MAX);
  const wanted = ids.slice(0, CHILDREN_MAX);
  const fresh = new Set(wanted.filter((each) => !met.has(each.id) && met.size < THINGS_MAX && met.add(each.id)).map((each) => each.id));
  node.children = await Promise.all(wanted.map(async ({ id, relation }) => {
    if (!fresh.has(id)) return { id, relation, kind: "named", words: "", children: [], below: [] };
    const child = await ask(id).then((answer) => describe(answer.item, id), () => ({ id, kind: "gone", words: "It is gone.", children: [], below: [] }));
    child.relation = relation;
    return child;
  }));
  if (depth >= DEPTH_MAX) return;
  for (const child of node.children) if (child.below.length) await grow(ask, child, met, depth + 1);
}

function describe(item, id) {
  const base = { id, kind: item.kind, ts: item.ts, saidBy: item.saidBy, mutedSince: item.mutedSince, behind: [], children: [], left: 0 };
  if (item.kind === "memory") {
    const older = item.links.filter((each) => each.relation === "supersedes" && each.fromId === item.id);
    return { ...base, words: text(item.text), isPinned: item.pinned, sessionId: item.sessionId, isActive: item.status === "active",
      behind: item.supersededBy === null ? [] : [id[0] + item.supersededBy],
      below: [...item.sources.map((source) => ({ id: "e" + source, relation: "taken from" })), ...older.map((each) => ({ id: id[0] + each.toId, relation: "in the place of" }))] };
  }
  if (item.kind === "team") {
    return { ...base, words: text(item.text), mark: item.team, saidBy: item.team.saidBy === "person" ? null : item.saidBy, behind: item.supersededBy === null ? [] : [item.supersededBy], below: [] };
  }
  if (item.kind === "summary") {
    const cited = item.derivesFrom.length ? item.derivesFrom : ["e" + item.eventId];
    return { ...base, words: text(item.text), behind: item.supersededBy.map((each) => "s" + each.newerId), below: cited.map((below) => ({ id: below, relation: "sums up" })) };
  }
  const isPrompt = item.eventKind === "prompt";
  return { ...base, kind: isPrompt ? "prompt" : "event", tool: toolName(item.tool), sessionId: item.sessionId, isFailed: item.outcome === "failed",
    words: short(wordsOf(item), WORDS_MAX), below: item.causedBy.map((below) => ({ id: below, relation: "asked for by" })) };
}

function wordsOf(event) {
  const payload = event.payload ?? {};
  return text(payload.prompt ?? payload.last_assistant_message ?? event.summaries?.[0]?.text ?? payload.tool_input ?? payload);
}
