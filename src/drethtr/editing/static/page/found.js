// The row above all lines that tells where the words of a search were found.

import { counted } from "../format.js";
import { html } from "../html.js";

// `place` tells which line and page this is, each false if there is none; `isAlone`, whether no other page has the words.
export function Found({ words, hits, place, isAlone, jump, close }) {
  const possible = hits.filter(({ probability }) => probability !== undefined && probability < 1).length;
  const certain = hits.length - possible;
  const told = [certain > 0 && counted(certain, "line"), possible > 0 && counted(possible, "possible line")];
  const [line, page] = place;
  const said = line ? [line] : hits.length ? told : ["no line of this page"];
  const isDone = !hits.length && isAlone;
  return html`
    <section class="compared sought" aria-label="Search">
      <div class="tools">
        <span>Found <b>${words}</b>: ${[...said, page].filter(Boolean).join(", ")}</span>
        <button type="button" disabled=${isDone} onClick=${() => jump(-1)} title="Shift+F8">Previous</button>
        <button type="button" disabled=${isDone} onClick=${() => jump(1)} title="F8, back with Shift+F8">Next <kbd>F8</kbd></button>
        <button type="button" onClick=${close} title="Remove these marks">End</button>
      </div>
    </section>`;
}
