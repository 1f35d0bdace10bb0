// The text, with the words that another text lacks marked.

import { html } from "../html.js";
import { changedWords } from "./words.js";

export function marked(text, other) {
  let place = 0;
  const parts = [];
  for (const { start, end, changed } of changedWords(text, other)) {
    parts.push(
      text.slice(place, start),
      changed ? html`<mark>${text.slice(start, end)}</mark>` : text.slice(start, end),
    );
    place = end;
  }
  return parts;
}
