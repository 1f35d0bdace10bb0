// Lines that hold the words searched for.

import * as api from "../api.js";
import { counted } from "../format.js";
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";

const PAUSE = 200; // ms

export function Hits({ words }) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let isWanted = true;
    const timer = setTimeout(() => {
      api.search(words).then(
        (answer) => isWanted && setFound(answer),
        (failed) => setError(failed.message),
      );
    }, PAUSE);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [words]);
  if (error) return html`<p class="hint flag" role="alert">${error}</p>`;
  if (!found) return null;
  return html`
    <p class="count" role="status">${found.total ? counted(found.total, "line") : "No line contains these words."}</p>
    <ol class="hits">${found.hits.map(
      ({ page, name, line, text, ranges, probability }) => html`<li><a href=${`/p/${page}#${encodeURIComponent(line)}`}>
        <span class="text">${marked(text, ranges)}</span>
        <span class="name">${probability && `${Math.round(100 * probability)} % likely, `}${name}</span></a></li>`,
    )}</ol>`;
}

// Ranges count code points.
function marked(text, ranges) {
  const characters = [...text];
  let place = 0;
  const parts = ranges.flatMap(([start, end]) => {
    const before = characters.slice(place, start).join("");
    place = end;
    return [before, html`<mark>${characters.slice(start, end).join("")}</mark>`];
  });
  return [...parts, characters.slice(place).join("")];
}
