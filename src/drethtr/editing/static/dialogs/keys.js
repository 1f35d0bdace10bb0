// Which keys do what.

import { html } from "../html.js";
import { keyName } from "../page/keys.js";
import { Dialog } from "./dialog.js";

const KEYS = [
  ["Enter", "save the line and go to the next one, on the last line twice to the next page; Shift+Enter goes back"],
  ["Ctrl+Enter", "confirm the line and go on; with Shift, all lines of the page"],
  ["F2", "to the next marked word, selected to be typed over; Shift+F2 to the previous one"],
  ["F3", "to the next word, selected likewise; Shift+F3 to the previous one"],
  ["Alt+1 … Alt+4", "take an alternative of the word"],
  ["Alt+↓", "alternatives of any word: arrow keys choose, Enter takes one, Escape closes them"],
  ["Alt+0", "clear the line to retype it"],
  ["F4", "to the next difference from a text that you compare with; Shift+F4 to the previous one"],
  ["Alt+T, Alt+O", "there: take theirs, keep ours; Alt+Shift+T takes their whole line"],
  ["Ctrl+Z", "undo; Ctrl+Shift+Z redoes"],
  ["↑ ↓", "line up, line down"],
  ["Alt+Page up, Alt+Page down", "previous page, next page"],
  ["Alt+C", "special characters: arrow keys choose, Enter inserts, Escape goes back to the text"],
  ["Alt+L", "edit lines: the same keys choose what to do"],
  ["+ − 0", "on the scan: zoom in, zoom out, fit the width; arrow keys move it"],
  ["Ctrl+wheel", "zoom the scan where the pointer is; drag to move it"],
];

export function Keys({ close }) {
  return html`<${Dialog} title="Keys" close=${close}>
    <dl class="keys">${KEYS.map(([key, told]) => html`<dt><kbd>${keyName(key)}</kbd></dt><dd>${told}</dd>`)}</dl>
  </${Dialog}>`;
}
