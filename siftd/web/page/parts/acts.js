// What a person may do to one thing: correct it, pin it, forget it. Forgetting shows first what goes, and takes exactly that.

import { html, useEffect, useState } from "../vendor/htm-preact/htm-preact.js";
import * as api from "../api.js";
import { plural, text } from "../wording.js";
import { Trouble, Waiting } from "./asking.js";
import { Dialog } from "./dialog.js";

/** The buttons of one thing; `onDone(sentence)` is told what was done. Only memories are pinned and corrected; what
 * happened, and what others of the team told, is muted; theirs to forget it is. */
export function Acts({ project, id, words, isPinned, isMemory, happened, isMuted, isOfTeam, waits, onDone }) {
  const [open, setOpen] = useState(null);
  const [error, setError] = useState(null);
  const close = () => setOpen(null);
  const done = (sentence) => { close(); onDone(sentence); };
  const pin = async () => {
    try {
      await api.update(project, id, { pin: !isPinned });
      onDone(isPinned ? `${id} is pinned no more.` : `${id} is pinned: every session is given it.`);
    } catch (refused) {
      setError(refused);
    }
  };
  const mute = async () => {
    try {
      await api.mute(project, id, !isMuted);
      onDone(isMuted ? `${id} may be given again.` : `${id} is given to nobody unasked any more.`);
    } catch (refused) {
      setError(refused);
    }
  };
  const accept = async () => {
    try {
      await api.accept(project, id);
      onDone(`${id} stands from now on.`);
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<div class="acts">
    ${waits && html`<button class="small" onClick=${accept}>Let it stand</button>`}
    ${isMemory && html`<button class="small" onClick=${() => setOpen("correct")}>Correct…</button>`}
    ${isMemory && html`<button class="small" aria-pressed=${isPinned ? "true" : "false"} onClick=${pin}>${isPinned ? "Unpin" : "Pin"}</button>`}
    ${happened && html`<button class="small" aria-pressed=${isMuted ? "true" : "false"} onClick=${mute}>${isMuted ? "Let it be given again" : "Stop giving this"}</button>`}
    ${!isOfTeam && html`<button class="small danger" onClick=${() => setOpen("forget")}>Forget…</button>`}
    ${error && html`<${Trouble} error=${error} />`}
    ${open === "correct" && html`<${Correct} project=${project} id=${id} words=${words} onClose=${close} onDone=${done} />`}
    ${open === "forget" && html`<${Forget} project=${project} id=${id} words=${words} onClose=${close} onDone=${done} />`}
  </div>`;
}

function Correct({ project, id, words, onClose, onDone }) {
  const [value, setValue] = useState(text(words));
  const [state, setState] = useState({});
  const save = async (event) => {
    event.preventDefault();
    setState({ isSaving: true });
    try {
      const kept = await api.supersede(project, id, value.trim());
      onDone(`${kept.id ?? "The correction"} stands in the place of ${id}, which stays as history.`);
    } catch (error) {
      setState({ error });
    }
  };
  return html`<${Dialog} title=${"Correct " + id} onClose=${onClose}>
    <form onSubmit=${save}>
      <label for="correct-text">What holds from now on</label>
      <textarea id="correct-text" rows="4" value=${value} onInput=${(event) => setValue(event.target.value)} />
      <p class="dim">The old text stays as history. No search finds it, and no agent is given it.</p>
      ${state.error && html`<${Trouble} error=${state.error} />`}
      <div class="choices">
        <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
        <button class="main" disabled=${state.isSaving || !value.trim() || value.trim() === text(words)}>Keep the correction</button>
      </div>
    </form>
  </${Dialog}>`;
}

function Forget({ project, id, words, onClose, onDone }) {
  const [weighed, setWeighed] = useState(null);
  const [typed, setTyped] = useState("");
  const [state, setState] = useState({});
  useEffect(() => { api.weighForget(project, id).then(setWeighed, (error) => setState({ error })); }, []);
  const erase = async (event) => {
    event.preventDefault();
    setState({ isSaving: true });
    try {
      const gone = await api.forget(project, id, weighed.confirm);
      const left = gone?.pending?.length ? ` Still holding something: ${gone.pending.join(", ")}.` : "";
      onDone(`${id} is gone from the log, the store and the index.${left}`);
    } catch (error) {
      if (error.told?.confirm) setWeighed(error.told); // something else by now: shown before it can be confirmed
      setTyped("");
      setState({ error });
    }
  };
  return html`<${Dialog} title=${"Forget " + id + " for good"} onClose=${onClose}>
    <form onSubmit=${erase}>
      <blockquote>${text(words)}</blockquote>
      ${!weighed && !state.error && html`<${Waiting} lines=${2} />`}
      ${weighed && html`<p>This takes ${plural(weighed.matched ?? 1, "thing")} out of the log, the store and every index: ${kindsOf(weighed)}. It cannot be undone.</p>`}
      ${weighed?.left?.length > 0 && html`<p class="dim">This holds the text and stays: ${weighed.left.map(text).join(", ")}.</p>`}
      ${weighed && html`<label for="forget-word">Type <b>${id}</b> to confirm</label>
        <input id="forget-word" autocomplete="off" spellcheck=${false} value=${typed} onInput=${(event) => setTyped(event.target.value)} />`}
      ${state.error && html`<${Trouble} error=${state.error} />`}
      <div class="choices">
        <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
        <button class="main danger" disabled=${!weighed || state.isSaving || typed.trim() !== id}>${state.isSaving ? "Forgetting…" : "Forget"}</button>
      </div>
    </form>
  </${Dialog}>`;
}

const kindsOf = (weighed) => Object.entries(weighed.byKind ?? {}).filter(([, n]) => n).map(([kind, n]) => plural(n, kind.replace(/s$/, ""), kind.replace(/y$/, "ie").replace(/s$/, "") + "s")).join(", ") || "what carries this id";
