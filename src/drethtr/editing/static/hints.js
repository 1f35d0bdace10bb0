// The first steps, above a page that was opened with `?hints`: the sample letter.

import { html } from "./html.js";
import { keyName } from "./page/keys.js";
import { useSetting } from "./settings.js";
import { useEffect } from "./vendor/hooks.js";

const STEPS = [
  ["F2", "goes to the next marked word"],
  ["Alt+1", "takes the first of its alternatives; or type"],
  ["Ctrl+Enter", "confirms the line"],
  ["Alt+L", "shows the layout: drag “Your loving sister, Anne” from the third place to the last"],
];

// `isAsked` is whether the address asks for them; they stay, on the layout as well, until they are closed.
export function Hints({ isAsked }) {
  const [isOpen, open] = useSetting("hints", false);
  useEffect(() => {
    if (isAsked) open(true);
  }, [isAsked]);
  if (!isOpen) return null;
  return html`<aside class="hints" aria-label="First steps">
    <ol>${STEPS.map(([key, told]) => html`<li><kbd>${keyName(key)}</kbd> ${told}</li>`)}</ol>
    <button type="button" class="close" aria-label="Close" onClick=${() => open(false)}>×</button>
  </aside>`;
}
