// What a line said before, and who changed it.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { Dialog } from "./dialog.js";

const ACTIONS = {
  text: "changed the text",
  status: "changed the status",
  read: "read it",
  place: "moved it on the scan",
  add: "added it",
  split: "split it",
  merge: "joined it",
  move: "moved it in the order",
  delete: "deleted it",
  outside: "changed by another program",
  tags: "deleted what these tags marked",
  tag: "tagged it",
};

export function History({ page, line, close, restore }) {
  const [changes, setChanges] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    api.history(page, line).then(setChanges, (failed) => setError(failed.message));
  }, []);
  return html`<${Dialog} title="History of the line" close=${close}>
    ${error && html`<p class="hint flag">${error}</p>`}
    ${changes?.length === 0 && html`<p>Nothing has been changed yet.</p>`}
    <ol class="history">${changes?.map(
      ({ when, who, model, action, old, status }) => html`<li>
        <p><b>${who ?? model ?? "another program"}</b> ${ACTIONS[action] ?? action}${action === "status" && `: ${status}`}${" "}
          <time datetime=${when}>${new Date(when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</time></p>
        ${old && html`<p class="side">${old}${action !== "tags" && html` <button type="button" onClick=${() => restore(old)}>Restore</button>`}</p>`}
      </li>`,
    )}</ol>
  </${Dialog}>`;
}
