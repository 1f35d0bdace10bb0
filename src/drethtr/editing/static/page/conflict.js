// A line that someone else changed meanwhile: both texts, and which of them shall stand.

import { Copy } from "../copy.js";
import { html } from "../html.js";
import { marked } from "./marked.js";

export function Conflict({ entry, settle }) {
  const { text, theirs } = entry;
  return html`
    <div class="conflict" role="alert">
      <p>This line was changed elsewhere since you opened it. Which text do you want to keep?</p>
      <div class="sides">
        <div><h3>Yours</h3><p class="side">${marked(text, theirs.text)}</p>
          <button type="button" onClick=${() => settle(true)}>Keep mine</button></div>
        <div><h3>In the file now</h3><p class="side">${marked(theirs.text, text)}</p>
          <button type="button" onClick=${() => settle(false)}>Take theirs</button></div>
      </div>
    </div>`;
}

// Text of a line that is gone, to be copied elsewhere or given up.
export function Orphans({ entries, forget }) {
  if (!entries.length) return null;
  return html`
    <section class="conflict" role="alert">
      <h2>Unsaved text of lines that are no longer on this page</h2>
      ${entries.map(
        ({ line, text }) => html`<p class="side">${text}</p>
          <${Copy} text=${text} />
          <button type="button" onClick=${() => forget(line.id)}>Discard</button>`,
      )}
    </section>`;
}
