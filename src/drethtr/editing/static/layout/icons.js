// Pictures of the tools, drawn with strokes in a square of 20.

import { html } from "../html.js";

const PATHS = {
  select: "M5 3l10 8-4.6.8L8 16z",
  draw: "M4 16l1-4 8-8 3 3-8 8zM12 5l3 3",
  cut: "M10 2v16M4 7h4M12 7h4M4 13h4M12 13h4",
  join: "M3 7h5M12 7h5M8 7a2 2 0 0 1 4 0M3 13h14",
  region: "M3 4h14v12H3zM6 8h8M6 12h5",
  order: "M4 5h9a3 3 0 0 1 0 5H7a3 3 0 0 0 0 5h8M13 13l3 2-3 2",
  table: "M3 4h14v12H3zM3 9h14M10 4v12",
  polygon: "M4 7l6-3 6 4-2 7-8 1z",
  delete: "M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11",
  find: "M9 4a5 5 0 1 1 0 10A5 5 0 0 1 9 4zM13 13l4 4M6.5 8h5M6.5 10.5h4",
};

export const Icon = ({ name }) =>
  html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
