// A window over the screen; Escape closes it, and the keyboard stays inside. After it, the focus is where it was before,
// and so is the caret.

import { html } from "../html.js";
import { useEffect, useRef } from "../vendor/hooks.js";

export function Dialog({ title, close, children }) {
  const element = useRef();
  useEffect(() => {
    const dialog = element.current;
    const selection = getSelection();
    const range = selection.rangeCount ? selection.getRangeAt(0).cloneRange() : null;
    dialog.showModal();
    return () => {
      dialog.close();
      if (!range || !document.activeElement.contains(range.startContainer)) return;
      selection.removeAllRanges();
      selection.addRange(range);
    };
  }, []);
  return html`
    <dialog ref=${element} aria-label=${title} onClose=${close}>
      <header><h2>${title}</h2>
        <button type="button" class="close" aria-label="Close" onClick=${() => element.current.close()}>×</button></header>
      ${children}
    </dialog>`;
}
