// What may be done with the line at the caret, below all lines, so that no line changes its height.

import { percent } from "../format.js";
import { html } from "../html.js";
import { keyName } from "./keys.js";

// Flags that nearly every line in an unknown hand has; the page says so once.
const OF_THE_HAND = ["unlike-training", "disagreement"];

export function LineBar({ entry, isReadOnly, isHandKnown, afresh, differs, on }) {
  if (!entry) return html`<div class="line-bar" />`;
  const { line } = entry;
  const isLong = line.words.length >= 5; // to retype fewer words saves nothing
  const isAfresh = line.status === "read" && isLong && line.expected_wer !== null && line.expected_wer >= afresh;
  const flags = line.flags?.filter(({ kind }) => isHandKnown || !OF_THE_HAND.includes(kind)) ?? [];
  const told = flags.map(({ reason }) => reason).join("; ");
  const keep = (event) => event.preventDefault(); // the caret stays where it is
  const button = (label, key, act) =>
    html`<button type="button" title=${key && keyName(key)} onClick=${() => act(line.id)}>${label}${key && html` <kbd>${keyName(key)}</kbd>`}</button>`;
  const changes = html`
    ${button(line.status === "confirmed" ? "Undo confirmation" : "Confirm", "Ctrl+Enter", on.confirm)}
    ${
      differs &&
      html`${button("Take theirs", "Alt+T", on.take)} ${button("Keep ours", "Alt+O", on.keep)}
      ${button("Take whole line", "Alt+Shift+T", on.takeLine)}`
    }
    ${line.status !== "read" && button("Read again", null, on.machine)}
    ${button("Tag", "Alt+G", on.tag)}`;
  return html`<div class="line-bar" role="group" aria-label="This line" onMouseDown=${keep}>
    ${!isReadOnly && changes}
    ${button("History", null, on.history)}
    ${!isReadOnly && isAfresh && html`${button("Retype", "Alt+0", on.afresh)} <span class="hint told">About ${percent(line.expected_wer)} of the words are probably wrong.</span>`}
    ${told && html`<span class="hint flag told" title=${told}>${told}</span>`}
  </div>`;
}
