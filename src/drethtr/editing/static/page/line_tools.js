// What changes the lines of a page: add, delete, split, join, reorder.

import * as api from "../api.js";
import { html } from "../html.js";
import { below, pointAt } from "./places.js";
import { Toolbar } from "./toolbar.js";
import { codePoints } from "./words.js";

export function LineTools({ store, entry, caret, isDrawing, setDrawing, reshaping, entered, back }) {
  const { page } = store;
  const { reshape, remove, deleted, restore, readPage } = reshaping;
  const place = page.lines.findIndex(({ id }) => id === entry?.line.id);
  const next = place < 0 ? null : page.lines[place + 1];
  const line = entry?.line;
  const point = entry && caret ? pointAt(line, entry.text, caret) : null;

  const split = (revision) =>
    api.splitLine(page.id, line.id, revision, {
      x: point[0],
      y: point[1],
      offset: codePoints(entry.text, caret),
    });
  const join = async (revision) => {
    await store.save(next.id);
    const other = store.entries.get(next.id).line;
    return api.mergeLine(page.id, line.id, revision, {
      with: other.id,
      revision: other.revision,
    });
  };
  const move = (after) => (revision) => api.moveLine(page.id, line.id, revision, { after });
  const button = (label, isPossible, act, title) =>
    html`<button type="button" aria-disabled=${!isPossible} title=${title}
      onMouseDown=${(event) => event.preventDefault()} onClick=${() => isPossible && act()}>${label}</button>`;
  return html`
    <${Toolbar} label="Lines" kind="tools shaping" entered=${entered} back=${back}>
      <button type="button" aria-pressed=${isDrawing} onClick=${() => setDrawing(!isDrawing)}>Draw</button>
      ${button("Add below", page.lines.length === 0 || line, () => reshape(null, () => api.addLine(page.id, { baseline: below(line ?? {}, page), after: line?.id ?? null }), "A line was added below."))}
      ${button("Split", point && caret < entry.text.length, () => reshape(line.id, split, "The line was split at the cursor."), "At the cursor in the text")}
      ${button("Join with next", next, () => reshape(line.id, join, "The two lines were joined."))}
      ${button("Move up", place > 0, () => reshape(line.id, move(page.lines[place - 2]?.id ?? null), "The line moved up."))}
      ${button("Move down", next, () => reshape(line.id, move(next.id), "The line moved down."))}
      ${button("Delete", line, () => remove(line.id))}
      ${button("Read page again", page.lines.length > 0, readPage, "All lines that nobody has edited")}
      ${deleted.length > 0 && button("Undo delete", true, restore)}
      <p class="hint">${isDrawing ? "Click along the line on the scan, from start to end; Enter or a double click finishes it, Escape cancels." : "Drag the points of the baseline, or move them with the arrow keys; Insert adds a point, Delete removes one."}</p>
    <//>`;
}
