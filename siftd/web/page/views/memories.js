// Memories: how long each holds, what took the place of what, what contradicts; kept, corrected, pinned and forgotten here.

import { html, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { Acts } from "../parts/acts.js";
import { Asked, Empty, More, Trouble, useAsked, usePaged } from "../parts/asking.js";
import { Card, Id, SaidBy, citeMemory } from "../parts/marks.js";
import { day, plural, text } from "../wording.js";

const PAGE = 50;
const PICKS = [["", "What holds"], ["pinned", "Pinned"], ["waiting", "Waiting for you"], ["superseded", "With history"]];

export function Memories({ project, query, change, turn }) {
  const [said, setSaid] = useState("");
  const [changes, setChanges] = useState(0);
  const done = (sentence) => { setSaid(sentence); setChanges((n) => n + 1); };
  const which = query.which ?? "";
  const filter = which ? { [which]: "true" } : {};
  const paged = usePaged((cursor, signal) => api.memories(project, { limit: PAGE, cursor, ...filter }, signal), (answer) => answer.memories, [project, which], turn, changes);
  const nothing = html`<${Empty} title=${which ? "None of these" : "Nothing is kept yet"}>
    <p>Keep something above, tell your agent to remember it, or run <code>mem remember "The queue runs on Postgres"</code>.</p>
  </${Empty}>`;
  return html`<${Keep} project=${project} onDone=${done} />
    <p class="said" role="status">${said}</p>
    <${Conflicts} project=${project} turn=${turn + changes} />
    <div class="picks" role="group" aria-label="Which memories">
      ${PICKS.map(([value, name]) => html`<button key=${value} class="pick" aria-pressed=${which === value ? "true" : "false"} onClick=${() => change({ which: value })}>${name}</button>`)}
    </div>
    <${Asked} asked=${paged.first} lines=${6} isEmpty=${(data) => !data.memories.length} empty=${nothing}>
      ${() => html`<${Chains} project=${project} list=${paged.list} onDone=${done} /><${More} more=${paged.more} />`}
    </${Asked}>`;
}

function Keep({ project, onDone }) {
  const [value, setValue] = useState("");
  const [error, setError] = useState(null);
  const keep = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      const kept = await api.remember(project, { text: value.trim() });
      setValue("");
      onDone(kept.duplicate ? `${kept.id} says this already.` : `${kept.id} is kept.`);
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<form class="find" onSubmit=${keep}>
      <label class="unseen" for="keep">Something to keep</label>
      <input id="keep" placeholder="Something to remember: The queue runs on Postgres" value=${value} autocomplete="off" onInput=${(event) => setValue(event.target.value)} />
      <button class="main" disabled=${!value.trim()}>Keep</button>
    </form>
    ${error && html`<${Trouble} error=${error} />`}`;
}

function Conflicts({ project, turn }) {
  const { data } = useAsked((signal) => api.memoryHealth(project, signal), [project], turn);
  if (!data?.conflicts?.length) return null;
  return html`<${Card} title=${plural(data.conflicts.length, "conflict")} note="Two memories say the opposite. Correct or forget one.">
    <ul class="conflicts">${data.conflicts.map((each) => html`<li key=${each.aId + "-" + each.bId}>
      <p><${Id} project=${project} id=${citeMemory(project, each.aId)} /> ${text(each.aText)}</p>
      <p><${Id} project=${project} id=${citeMemory(project, each.bId)} /> ${text(each.bText)}</p>
    </li>`)}</ul>
  </${Card}>`;
}

/** A memory, and below it those whose place it took, as far as they are in the list. */
function Chains({ project, list, onDone }) {
  const ids = new Set(list.map((each) => each.id));
  const older = new Map();
  for (const each of list) if (ids.has(each.supersededBy)) older.set(each.supersededBy, [...(older.get(each.supersededBy) ?? []), each]);
  const heads = list.filter((each) => !ids.has(each.supersededBy));
  const from = Math.min(...list.map((each) => each.validFrom ?? each.ts));
  const draw = (memory) => html`<li class=${"memory" + (memory.status === "active" ? "" : " over")} key=${memory.id}>
    <${Memory} project=${project} memory=${memory} from=${from} onDone=${onDone} />
    ${older.has(memory.id) && html`<ul class="chain" aria-label=${"Whose place " + citeMemory(project, memory.id) + " took"}>${older.get(memory.id).map(draw)}</ul>`}
  </li>`;
  return html`<ul class="memories">${heads.map(draw)}</ul>`;
}

function Memory({ project, memory, from, onDone }) {
  const id = citeMemory(project, memory.id);
  return html`<p class="facts">
      <${Id} project=${project} id=${id} /><span class="tool">${text(memory.type)}</span><${SaidBy} by=${memory.saidBy} />
      ${memory.pinned && html`<span class="tag good">pinned</span>`}
      ${memory.waits && html`<span class="tag">waits for you</span>`}
      ${memory.status !== "active" && html`<span class="tag">${text(memory.status)}</span>`}
      ${memory.tags.map((tag) => html`<span class="tag" key=${tag}>${text(tag)}</span>`)}
    </p>
    <p class="words">${text(memory.text)}</p>
    ${memory.waits && html`<p class="dim">An agent asked for it: it stands for nothing until you say so.</p>`}
    <${Validity} memory=${memory} from=${from} />
    ${memory.status === "active" && html`<${Acts} project=${project} id=${id} words=${memory.text} isMemory=${true} isPinned=${memory.pinned} waits=${memory.waits} onDone=${onDone} />`}`;
}

/** From when to when it holds, on a line from the first of the list until now. */
function Validity({ memory, from }) {
  const now = Date.now();
  const begin = memory.validFrom ?? memory.ts;
  const end = memory.validTo ?? (memory.status === "active" ? null : memory.updatedTs);
  const span = Math.max(1, now - from);
  const at = (ts) => Math.min(100, Math.max(0, (100 * (ts - from)) / span));
  const left = Math.min(at(begin), 97);
  return html`<p class="validity">
    <span class="span" aria-hidden="true"><i style=${{ left: left + "%", width: Math.max(3, at(end ?? now) - left) + "%" }}></i></span>
    <span class="dim">since ${day(begin)}${end ? `, until ${day(end)}` : ""} · read ${plural(memory.reads ?? 0, "time")}</span>
  </p>`;
}
