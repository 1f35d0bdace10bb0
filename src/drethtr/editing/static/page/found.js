// The row above all lines that tells where the words of a search were found.

import { counted } from "../format.js";
import { html } from "../html.js";

export function Found({ words, hits, jump, close }) {
  const possible = hits.filter(({ probability }) => probability !== undefined && probability < 1).length;
  const certain = hits.length - possible;
  const told = [certain > 0 && counted(certain, "line"), possible > 0 && counted(possible, "possible line")];
  return html`
    <section class="compared sought" aria-label="Search">
      <div class="tools">
        <span>Found <b>${words}</b>: ${told.filter(Boolean).join(", ") || "no line of this page"}</span>
        <button type="button" disabled=${!hits.length} onClick=${() => jump(-1)} title="Shift+F8">Previous</button>
        <button type="button" disabled=${!hits.length} onClick=${() => jump(1)} title="F8, back with Shift+F8">Next <kbd>F8</kbd></button>
        <button type="button" onClick=${close} title="Remove these marks">End</button>
      </div>
    </section>`;
}
