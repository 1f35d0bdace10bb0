// A window over the screen; Escape closes it, and the keyboard stays inside.

import { html } from "../html.js";
import { useEffect, useRef } from "../vendor/hooks.js";

export function Dialog({ title, close, children }) {
  const element = useRef();
  useEffect(() => element.current.showModal(), []);
  return html`
    <dialog ref=${element} aria-label=${title} onClose=${close}>
      <header><h2>${title}</h2>
        <button type="button" class="close" aria-label="Close" onClick=${() => element.current.close()}>×</button></header>
      ${children}
    </dialog>`;
}
