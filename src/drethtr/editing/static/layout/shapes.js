// Lines and regions as they are drawn over the scan.

import { html } from "../html.js";
import { boxOf } from "../page/places.js";
import { svgPoints } from "../page/sheet.js";
import { corners, groupsOf, orderPath, shapeOf, simplified, startOf } from "./geometry.js";

const HUES = [205, 150, 35, 275, 345, 95];
const BADGE = 18;

// A line of `selected` is strong. The number stands where a line begins, as large at any zoom, but smaller where lines
// are too close for it.
export function Shapes({ page, selected, region }) {
  const groups = groupsOf(page);
  const starts = page.lines.map(startOf);
  return html`
    <svg class="shapes" viewBox=${`0 0 ${page.width} ${page.height}`} style=${{ "--room": roomBetween(starts) }} aria-hidden="true">
      ${groups.map((group, place) =>
        group.regions.map((one) => {
          const shape = one.polygon ?? boxAround(group, one);
          return (
            shape &&
            html`<polygon key=${one.id} class="region" data-region=${one.id} data-chosen=${group.id === region ? "" : null}
            data-cell=${one.cell ? "" : null} style=${{ "--hue": HUES[place % HUES.length] }} points=${svgPoints(shape)} />`
          );
        }),
      )}
      ${groups.map((group, place) =>
        group.lines.map(({ line }) => {
          const shape = shapeOf(line);
          return (
            shape &&
            html`<polygon key=${line.id} class="ribbon" data-ribbon=${line.id} data-status=${line.status}
            data-selected=${selected.has(line.id) ? "" : null} style=${{ "--hue": HUES[place % HUES.length] }} points=${svgPoints(simplified(shape, 1.5))} />`
          );
        }),
      )}
      ${page.lines.map((line) => line.baseline && html`<polyline key=${line.id} class="base" data-selected=${selected.has(line.id) ? "" : null} points=${svgPoints(simplified(line.baseline, 1.5))} />`)}
      <path class="way" d=${orderPath(page.lines)} />
      ${groups.map(
        ({ regions: [first], table }) =>
          (first.kind || table) &&
          first.polygon &&
          html`<g key=${first.id} class="tag" style=${at(boxOf(first.polygon))}><text y="-5">${table ? "table" : first.kind}</text></g>`,
      )}
      ${page.lines.map((line, place) => {
        const start = starts[place];
        const text = `${place + 1}`;
        const width = 9 + 7 * text.length;
        return (
          start &&
          html`<g key=${line.id} class="badge" data-selected=${selected.has(line.id) ? "" : null} style=${at(start)}>
            <rect x=${-width - 3} y="-15" width=${width} height=${BADGE} rx="9" /><text x=${-width / 2 - 3} y="-1.5">${text}</text></g>`
        );
      })}
    </svg>`;
}

// The scale at which a number reaches from the beginning of a line to that of the next one; null for a single line.
function roomBetween(starts) {
  const known = starts.filter(Boolean);
  const steps = known.slice(1).map(([x, y], place) => Math.hypot(x - known[place][0], y - known[place][1]));
  return steps.length ? steps.sort((one, other) => one - other)[steps.length >> 1] / BADGE : null;
}

const at = ([x, y]) => ({ "--x": `${x}px`, "--y": `${y}px` });

function boxAround(group, region) {
  const found = group.lines.filter((one) => one.region === region).flatMap(({ line }) => shapeOf(line) ?? []);
  return found.length ? corners(boxOf(found)) : null;
}
