// Which keys do what.

import { html } from "../html.js";
import { TOOLS } from "../layout/tools.js";
import { keyName } from "../page/keys.js";
import { Dialog } from "./dialog.js";

const KEYS = [
  ["Enter", "save the line and go to the next one, on the last line twice to the next page; Shift+Enter goes back"],
  ["Ctrl+Enter", "confirm the line and go on; with Shift, all lines of the page"],
  ["F2", "to the next marked word, selected to be typed over; Shift+F2 to the previous one"],
  ["F3", "to the next word, also selected; Shift+F3 to the previous one"],
  ["Alt+1 … Alt+4", "take an alternative of the word"],
  ["Alt+↓", "alternatives of any word: arrow keys choose, Enter takes one, Escape closes them"],
  ["Alt+0", "clear the line to retype it"],
  ["F4", "to the next difference from the compared text; Shift+F4 to the previous one"],
  ["Alt+T, Alt+O", "at a difference: take theirs, keep ours; Alt+Shift+T takes their whole line"],
  ["F8", "after a search: to the next match, across pages; Shift+F8 to the previous one"],
  ["F9", "zoom the scan to the line, and back to the full width"],
  ["Alt+P", "proofread: hide the pictures of lines and zoom the scan to the lines; and back"],
  ["Ctrl+Z", "undo, including saved changes; Ctrl+Shift+Z redoes"],
  ["↑ ↓", "line up, line down"],
  ["Alt+Page up, Alt+Page down", "previous page, next page"],
  ["Alt+C", "special characters: arrow keys choose, Enter inserts, Escape goes back to the text"],
  ["Alt+G", "tag the selection or the word as a person, place, date …"],
  ["Alt+L", "the layout of lines and regions, and back to the text"],
  ["+ − 0", "on the scan: zoom in, zoom out, fit the width; arrow keys move it"],
  ["Ctrl+wheel", "zoom the scan where the pointer is; drag to move it"],
];

const OF_LAYOUT = [
  ...TOOLS.map(({ key, name, hint }) => [key.toUpperCase(), `${name}. ${hint}`]),
  ["Delete", "delete the selected lines; with the table tool, the last stroke"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Ctrl+A, Escape", "select all lines, none"],
  ["↑ ↓", "in the list: to the next line, with Shift selecting; Alt moves the selected lines, Enter opens the text"],
  ["arrow keys", "on the scan, with a tool: aim; Space sets a point, Enter ends the stroke"],
  ["Alt+L", "back to the text"],
  ["wheel, middle button", "move the scan; Ctrl+wheel zooms"],
];

export function Keys({ isLayout, close }) {
  return html`<${Dialog} title=${isLayout ? "Keys of the layout" : "Keys"} close=${close}>
    <dl class="keys">${(isLayout ? OF_LAYOUT : KEYS).map(([key, told]) => html`<dt><kbd>${keyName(key)}</kbd></dt><dd>${told}</dd>`)}</dl>
  </${Dialog}>`;
}
