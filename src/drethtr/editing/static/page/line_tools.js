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
    api.layout(page.id, {
      do: "split",
      line: line.id,
      point,
      offset: codePoints(entry.text, caret),
      revisions: { [line.id]: revision },
    });
  const join = async (revision) => {
    await store.save(next.id);
    const other = store.entries.get(next.id).line;
    return api.layout(page.id, {
      do: "join",
      lines: [line.id, other.id],
      revisions: { [line.id]: revision, [other.id]: other.revision },
    });
  };
  const move = (after) => () => api.layout(page.id, { do: "move", lines: [line.id], after });
  const button = (label, isPossible, act, title) =>
    html`<button type="button" aria-disabled=${!isPossible} title=${title}
      onMouseDown=${(event) => event.preventDefault()} onClick=${() => isPossible && act()}>${label}</button>`;
  return html`
    <${Toolbar} label="Lines" kind="tools shaping" entered=${entered} back=${back}>
      <button type="button" aria-pressed=${isDrawing} onClick=${() => setDrawing(!isDrawing)}>Draw</button>
      ${button("Add below", page.lines.length === 0 || line, () => reshape(null, () => api.layout(page.id, { do: "draw", baseline: below(line ?? {}, page), after: line?.id ?? null }), "A line was added below."))}
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
