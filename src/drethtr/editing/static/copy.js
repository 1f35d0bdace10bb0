// A button that copies a text.

import { html } from "./html.js";
import { useRef, useState } from "./vendor/hooks.js";

export function Copy({ text }) {
  const [isCopied, setCopied] = useState(false);
  const button = useRef();
  const copy = async () => {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyOldWay(text, button.current);
    setCopied(true);
  };
  return html`<button type="button" ref=${button} aria-live="polite" onClick=${copy}>${isCopied ? "Copied" : "Copy"}</button>`;
}

// Browsers have no clipboard for pages of another machine without TLS. In a dialog, only what is inside can be selected.
function copyOldWay(text, button) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  button.after(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  button.focus();
}
