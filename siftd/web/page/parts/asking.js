// An answer on its way to the screen: loading, refused, empty or there. Every view draws all four.

import { html, useCallback, useEffect, useRef, useState } from "../vendor/htm-preact/htm-preact.js";
import { Coded } from "./marks.js";

const AGAIN_MS = 4_000;

/** Ask when `deps` change, and again when `turn` does: what is there stays on the screen meanwhile, with whatever is open
 * in it. Returns {data, error, isLoading, again}. */
export function useAsked(ask, deps, turn) {
  const [state, setState] = useState({ isLoading: true });
  const [tries, setTries] = useState(0);
  const known = useRef();
  const again = useCallback(() => setTries((n) => n + 1), []);
  useEffect(() => {
    const ending = new AbortController();
    const isSame = known.current && known.current.every((each, n) => each === deps[n]);
    known.current = deps;
    setState((was) => (isSame ? { ...was, isLoading: true } : { isLoading: true }));
    let timer;
    ask(ending.signal).then(
      (data) => !ending.signal.aborted && setState({ data, isLoading: false }),
      (error) => {
        if (ending.signal.aborted || error.name === "AbortError") return;
        setState((was) => ({ data: was.data, error, isLoading: false }));
        if (isPassing(error)) timer = setTimeout(again, AGAIN_MS);
      },
    );
    return () => { ending.abort(); clearTimeout(timer); };
  }, [...deps, turn, tries]);
  return { ...state, again };
}

const isPassing = (error) => error.status === 0 || error.status === 429 || error.status >= 500;

/** Draw what was asked for: `children` is a function of the answer. */
export function Asked({ asked, lines = 4, isEmpty = () => false, empty = null, children }) {
  const { data, error, isLoading, again } = asked;
  if (error && !data) return html`<${Trouble} error=${error} again=${again} />`;
  if (!data) return html`<${Waiting} lines=${lines} />`;
  return html`<div class="answer" aria-busy=${isLoading ? "true" : "false"}>
    ${error?.status > 0 && html`<${Trouble} error=${error} again=${again} />`}
    ${isEmpty(data) ? empty : children(data)}
  </div>`;
}

export function Waiting({ lines }) {
  return html`<div class="waiting" role="status" aria-label="Loading">
    ${Array.from({ length: lines }, (_, n) => html`<div class="bone" key=${n}></div>`)}
  </div>`;
}

export function Trouble({ error, again }) {
  return html`<div class="trouble" role="alert">
    <p class="trouble-what">${String(error.message)}</p>
    ${error.hint && html`<p class="trouble-hint"><${Coded} words=${String(error.hint)} /></p>`}
    ${again && html`<button class="quiet" onClick=${again}>Try again</button>`}
  </div>`;
}

/** Nothing is there: says so, and the next step. */
export function Empty({ title, children }) {
  return html`<div class="empty">
    <svg viewBox="0 0 48 48" width="44" height="44" aria-hidden="true"><path d="M10 14h28M15 24h18M20.5 34h7" /></svg>
    <p class="empty-title">${title}</p>
    <div class="empty-next">${children}</div>
  </div>`;
}

/** A list that goes on by cursor: `ask(cursor)` answers {…, nextCursor}, `rows` picks the list out of an answer.
 * It is asked again as `turn` moves, as long as nobody has gone on in it: what one reads does not jump away. It is also
 * asked again, from its beginning, after the person's own `acts`. */
export function usePaged(ask, rows, deps, turn, acts = 0) {
  const [more, setMore] = useState({ of: "", rows: [], next: null });
  const [state, setState] = useState({});
  const seen = useRef(turn);
  const of = JSON.stringify([deps, acts]);
  const isOn = more.of === of && more.rows.length > 0;
  if (!isOn) seen.current = turn;
  const first = useAsked((signal) => ask(undefined, signal), deps, `${seen.current} ${acts}`);
  const next = isOn ? more.next : first.data?.nextCursor;
  const list = first.data && (isOn ? [...rows(first.data), ...more.rows] : rows(first.data));
  const goOn = async () => {
    setState({ isLoading: true });
    try {
      const answer = await ask(next);
      setMore({ of, rows: [...(isOn ? more.rows : []), ...rows(answer)], next: answer.nextCursor });
      setState({});
    } catch (error) {
      setState({ error });
    }
  };
  return { first, list, more: next ? { goOn, ...state } : null };
}

export function More({ more }) {
  if (!more) return null;
  return html`<div class="more">
    ${more.error && html`<${Trouble} error=${more.error} />`}
    <button class="quiet" disabled=${more.isLoading} onClick=${more.goOn}>${more.isLoading ? "Loading…" : "Show more"}</button>
  </div>`;
}
