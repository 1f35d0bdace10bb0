// Addresses with which others may read, correct or manage this folder.

import { Copy } from "../copy.js";
import { html } from "../html.js";
import { Dialog } from "./dialog.js";

const ROLES = {
  read: ["Read only", "see, search and export everything"],
  correct: ["Correct", "also change texts and lines, and confirm them"],
  manage: ["Manage", "also read pages again, learn, and make them searchable"],
};

const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

// `links` are the tokens by role.
export function Share({ links, close }) {
  return html`<${Dialog} title="Share this folder" close=${close}>
    ${isHere && html`<p class="flag">These addresses work on this computer only. For others, stop drethtr edit and start it again with <code>--host 0.0.0.0</code>.</p>`}
    <p class="hint">Anyone with an address can do what it says beside it. Share it only with people you trust to do so.</p>
    <dl class="links">${Object.entries(ROLES).map(
      ([role, [name, told]]) => html`<dt>${name} <span class="hint">${told}</span></dt>
        <dd><code>${location.origin}/?token=${links[role]}</code>
          <${Copy} text=${`${location.origin}/?token=${links[role]}`} /></dd>`,
    )}</dl>
  <//>`;
}
