// What somebody else's text says on a line, below ours.

import { counted } from "../format.js";
import { html } from "../html.js";
import { wordsOf } from "./words.js";

export function Theirs({ entry, comparison }) {
  const { line } = entry;
  if (comparison.lacks(line.id)) return html`<p class="theirs hint">Not in the text</p>`;
  const differences = comparison.differences(entry);
  if (!differences.length) return null;
  return html`<p class="theirs"><span class="whose">Theirs</span> <span class="side">${marked(comparison, line.id, differences)}</span></p>`;
}

// Their text: words that differ are marked, words that the ink does not support underlined.
function marked(comparison, id, differences) {
  const theirs = comparison.theirs(id);
  const words = wordsOf(theirs);
  // Where theirs has nothing, and ours has words.
  const gapAt = (place) =>
    differences.some(({ first, last }) => first === last && first === place) &&
    html`<mark class=${comparison.isShort(id, place) ? "unsupported" : ""}>…</mark> `;
  const parts = words.map(({ text }, place) => {
    const differs = differences.some(({ first, last }) => place >= first && place < last);
    const isDoubted = differs && comparison.isDoubted(id, place);
    const shown = differs ? html`<mark class=${isDoubted ? "unsupported" : ""}>${text}</mark>` : text;
    return html`${gapAt(place)}${shown}${isDoubted && html`<span class="unseen"> (not in the ink)</span>`} `;
  });
  return [...parts, gapAt(words.length)];
}

// The row above all lines.
export function Compared({ comparison, order, jump, close }) {
  const differing = order.map((entry) => comparison.differences(entry).length).filter(Boolean);
  const count = differing.reduce((sum, number) => sum + number, 0);
  const lacking = order.filter(({ line }) => comparison.lacks(line.id)).length;
  const told = [
    count ? `${counted(count, "difference")} in ${counted(differing.length, "line")}` : "no difference left",
    lacking && `${counted(lacking, "line")} not in the text`,
    comparison.text.allow.length > 0 && `${comparison.text.allow.join(", ")} ignored`,
  ];
  return html`
    <section class="compared" aria-label="Comparison">
      <div class="tools">
        <span>Compared with <b>${comparison.name}</b>: ${told.filter(Boolean).join(", ")}</span>
        <button type="button" disabled=${!count} onClick=${jump} title="F4, back with Shift+F4">Next <kbd>F4</kbd></button>
        <button type="button" onClick=${close} title="End the comparison">End</button>
      </div>
      ${
        comparison.left.length > 0 &&
        html`<details><summary>${counted(comparison.left.length, "part")} of the text not on any line of this page</summary>
        ${comparison.left.map((part) => html`<p class="side">${part}</p>`)}</details>`
      }
      <p class="hint">Words of theirs with a wavy underline seem to differ from the ink. Look at the ink before you decide.</p>
    </section>`;
}
