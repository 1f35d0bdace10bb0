// A page without lines: whether they will come, and what a person can do.

import { html } from "../html.js";

export function Empty({ page, isReading, read }) {
  if (page.status !== "unread") {
    return html`<p class="notice">No lines were found on this page. If there is writing, draw its lines: Lines, then Draw.</p>`;
  }
  if (isReading && !page.error)
    return html`<p class="notice" aria-busy="true">This page is going to be read; its lines appear here.</p>`;
  return html`<p class="notice">${page.error ? "" : "This page has not been read. "}
    <button type="button" disabled=${isReading} onClick=${read}>${page.error ? "Try again" : "Read it"}</button></p>`;
}
