// A window over the screen; Escape closes it, and the keyboard stays inside. After it, the focus is where it was before,
// and so is the caret.

import { html } from "../html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";

export function Dialog({ title, kind, close, children }) {
  const element = useRef();
  const [before] = useState(whereFocusIs); // while the dialog is rendered: it has not taken the focus yet
  // The end of a `useEffect` comes some time after the dialog is gone; what is typed until then would be lost.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => {
      dialog.close();
      goBack(before);
    };
  }, []);
  return html`
    <dialog class=${kind} ref=${element} aria-label=${title} onClose=${close}>
      <header><h2>${title}</h2>
        <button type="button" class="close" aria-label="Close" onClick=${() => element.current.close()}>×</button></header>
      ${children}
    </dialog>`;
}

function whereFocusIs() {
  const selection = getSelection();
  const range = selection.rangeCount ? selection.getRangeAt(0).cloneRange() : null;
  return { focused: document.activeElement, range };
}

function goBack({ focused, range }) {
  focused.focus({ preventScroll: true });
  if (!range || !focused.contains(range.startContainer)) return;
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}
