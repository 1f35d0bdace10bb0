// A page without lines: whether it will get some, and what a person can do.

import { html } from "../html.js";

export function Empty({ page, isReading, read }) {
  if (page.status !== "unread") {
    return html`<p class="notice">No lines were found on this page. If there is writing, draw its lines: Layout, then Draw.</p>`;
  }
  if (page.error) {
    return html`<div class="notice"><p class="flag">${page.error}</p><p><button type="button" disabled=${isReading} onClick=${read}>Try again</button></p></div>`;
  }
  return isReading
    ? html`<p class="notice" aria-busy="true">This page is waiting to be read; its lines will appear here.</p>`
    : html`<p class="notice">This page has not been read yet. <button type="button" onClick=${read}>Read this page</button></p>`;
}
