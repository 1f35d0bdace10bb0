// Between scan and text: dragged, or moved with the arrow keys.

import { html } from "../html.js";

export function Divider({ share, set }) {
  const bounded = (value) => Math.round(Math.min(75, Math.max(20, value)));
  const keys = (event) => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (!step) return;
    event.preventDefault();
    set(bounded(share + step));
  };
  return html`<div class="divider" role="separator" tabindex="0" aria-orientation="vertical" aria-label="Width of the scan"
    aria-valuenow=${share} aria-valuemin="20" aria-valuemax="75" onKeyDown=${keys}
    onPointerDown=${(event) => event.currentTarget.setPointerCapture(event.pointerId)}
    onPointerMove=${(event) => event.buttons && set(bounded((100 * event.clientX) / innerWidth))} />`;
}
