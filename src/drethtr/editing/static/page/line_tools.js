// What changes the lines of a page: add, delete, split, join, reorder.

import * as api from "../api.js";
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { below, pointAt } from "./places.js";
import { Toolbar } from "./toolbar.js";
import { codePoints } from "./words.js";

export function LineTools({ store, entry, caret, isDrawing, setDrawing, reshape, readAgain, entered, back }) {
  const [deleted, setDeleted] = useState(null);
  const { page } = store;
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
  // A line that was just drawn or split is being read.
  const deleteEvenIfReadAgain = (revision) =>
    api.deleteLine(page.id, line.id, revision).catch((error) => {
      const now = error.answer?.line;
      if (error.status !== 409 || now?.status !== "read") throw error;
      return api.deleteLine(page.id, line.id, now.revision);
    });
  const remove = async () => {
    const { baseline, polygon, status } = line;
    const kept = {
      baseline,
      polygon,
      after: page.lines[place - 1]?.id ?? null,
      text: entry.text,
      status,
    };
    await reshape(line.id, deleteEvenIfReadAgain, "The line was deleted.");
    if (!store.entries.has(line.id)) setDeleted(kept);
  };
  const restore = async () => {
    const { text, status, ...shape } = deleted;
    setDeleted(null);
    await reshape(
      null,
      async () => {
        const answer = await api.addLine(page.id, shape);
        const added = answer.lines.find(({ id }) => id === answer.changed[0]);
        if (status === "read" || status === "unread") return answer;
        await api.putLine(page.id, added.id, added.revision, { text, status });
        return api.page(page.id);
      },
      "The line was restored.",
    );
  };
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
      ${button("Delete", line, remove)}
      ${button("Read page again", page.lines.length > 0, readAgain, "All lines that nobody has edited")}
      ${deleted && button("Undo delete", true, restore)}
      <p class="hint">${isDrawing ? "Click along the line on the scan, from start to end; Enter or a double click finishes it, Escape cancels." : "Drag the points of the baseline, or move them with the arrow keys; Insert adds a point, Delete removes one."}</p>
    <//>`;
}
