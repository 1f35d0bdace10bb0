// What was done to a line or a page, by whom and when; steps of a page can be undone.

import * as api from "../api.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

const DID = {
  text: "changed the text of …",
  status: "changed the status of …",
  read: "read …",
  place: "moved … on the scan",
  draw: "drew …",
  cut: "cut …",
  join: "joined …",
  delete: "deleted …",
  find: "found … again",
  order: "changed the order",
  region: "changed the regions",
  table: "made a table",
  "two-pages": "made two pages",
  rows: "ordered row by row",
  columns: "ordered column by column",
  outside: "changed …",
  tags: "deleted tagged text in …",
  tag: "changed the tags of …",
  learn: "learned from …",
  undo: "undid a change of …",
  redo: "redid a change of …",
  // As version 0.2 noted them.
  add: "added …",
  split: "split …",
  merge: "joined …",
  move: "moved … in the order",
};
const OF_TAGS = ["tags", "tag"]; // what these changed is no text

// Who did what when; `what` are the lines, none for a change of the page alone.
function Did({ when, who, model, action, status, what, children }) {
  const did = action === "read" && who ? "had … read again" : (DID[action] ?? `${action} …`);
  return html`<p><b>${who ?? model ?? "another program"}</b> ${what ? did.replace("…", what) : did.replace(/( of)? …/, "")}${action === "status" && status && `: ${status}`}${" "}
    <time datetime=${when}>${new Date(when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time>${children}</p>`;
}

// Without `restore`, no text can be put back.
export function History({ page, line, close, restore }) {
  const [changes, setChanges] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    api.history(page, line).then(setChanges, (failed) => setError(failed.message));
  }, []);
  return html`<${Dialog} title="History of the line" close=${close}>
    ${error && html`<p class="hint flag">${error}</p>`}
    ${changes?.length === 0 && html`<p>No changes yet. If the scan was renamed, its history comes back with the old name.</p>`}
    <ol class="history">${changes?.map(
      (one) => html`<li>
        <${Did} ...${one} what="this line" />
        ${one.old && html`<p class="side">${one.old}${restore && !OF_TAGS.includes(one.action) && html` <button type="button" onClick=${() => restore(one.old)}>Restore</button>`}</p>`}
      </li>`,
    )}</ol>
  <//>`;
}

// `undo` takes back a step by its number, and answers with what went wrong.
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
    ${steps?.length === 0 && html`<p>Nobody has changed this page since the scan has had this name.</p>`}
    <ol class="history">${steps?.map(
      (one) => html`<li key=${one.step} data-undone=${one.undone ? "" : null}>
        <${Did} ...${one} what=${one.lines.length > 0 && counted(one.lines.length, "line")}>
          ${one.of === null && (one.undone ? html` <span class="hint">undone</span>` : html` <button type="button" onClick=${() => back(one.step)}>Undo</button>`)}<//>
        ${one.lines.slice(0, 3).map((line) => html`<${Change} ...${line} />`)}
      </li>`,
    )}</ol>
  <//>`;
}

// A text that waits for its reading, `now` "", is still there on the screen.
function Change({ old, new: now }) {
  if (old === now || !(old || now)) return null;
  if (now === "") return html`<p class="side">${old}</p>`;
  return html`<p class="side">${old && html`<del>${old}</del>`} ${now && html`<ins>${now}</ins>`}</p>`;
}
