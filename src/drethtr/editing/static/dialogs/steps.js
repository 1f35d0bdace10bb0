// What was done to a page, by whom, and undoing any of it.

import * as api from "../api.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

export const ACTIONS = {
  text: "corrected",
  status: "changed the status of",
  read: "had read again",
  place: "moved the baseline of",
  draw: "drew",
  cut: "cut",
  join: "joined",
  delete: "deleted",
  find: "found again",
  order: "changed the order",
  region: "changed the regions",
  table: "made a table",
  "two-pages": "made two pages",
  rows: "ordered row by row",
  columns: "ordered column by column",
  tags: "deleted tags of",
  undo: "undid a step",
  redo: "redid a step",
};
const OF_THE_PAGE = ["order", "region", "table", "two-pages", "rows", "columns", "undo", "redo"];

export function saidOf({ action, lines }) {
  const what = ACTIONS[action] ?? action;
  return OF_THE_PAGE.includes(action) || !lines.length ? what : `${what} ${counted(lines.length, "line")}`;
}

export function Steps({ page, close, undo }) {
  const [steps, setSteps] = useState(null);
  const [error, setError] = useState(null);
  const load = () => api.steps(page).then(setSteps, (failed) => setError(failed.message));
  useEffect(() => {
    load();
  }, []);
  const back = async (step) => {
    setError(null);
    setError((await undo(step)) ?? null);
    load();
  };
  return html`<${Dialog} title="History of the page" close=${close}>
    ${error && html`<p class="hint flag">${error}</p>`}
    ${steps?.length === 0 && html`<p>Nobody has changed this page yet.</p>`}
    <ol class="history">${steps?.map(
      (one) => html`<li key=${one.step} data-undone=${one.undone ? "" : null}>
        <p><b>${one.who ?? one.model}</b> ${saidOf(one)}${" "}
          <time datetime=${one.when}>${new Date(one.when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time>
          ${one.of === null && (one.undone ? html` <span class="hint">undone</span>` : html` <button type="button" onClick=${() => back(one.step)}>Undo</button>`)}</p>
        ${one.lines.slice(0, 3).map((line) => html`<${Change} ...${line} />`)}
      </li>`,
    )}</ol>
  </${Dialog}>`;
}

// A text that waits for its reading, `now` "", is still there on the screen.
function Change({ old, new: now }) {
  if (old === now || !(old || now)) return null;
  if (now === "") return html`<p class="side">${old}</p>`;
  return html`<p class="side">${old && html`<del>${old}</del>`} ${now && html`<ins>${now}</ins>`}</p>`;
}
