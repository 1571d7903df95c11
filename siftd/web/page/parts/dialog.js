// A question that has to be answered first: the browser's own modal dialog, which keeps the focus inside and ends by Escape.

import { html, useEffect, useRef } from "../vendor/htm-preact/htm-preact.js";

export function Dialog({ title, onClose, children }) {
  const at = useRef();
  useEffect(() => {
    const before = document.activeElement;
    at.current.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  const byBackdrop = (event) => event.target === at.current && onClose();
  return html`<dialog ref=${at} aria-labelledby="dialog-title" onClose=${onClose} onClick=${byBackdrop}>
    <div class="dialog-body">
      <h2 id="dialog-title">${title}</h2>
      ${children}
    </div>
  </dialog>`;
}
