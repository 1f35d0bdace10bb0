// The scan with its lines over it, and the place of the caret.

import { html } from "../html.js";
import { useEffect, useRef } from "../vendor/hooks.js";
import { boxAt, boxOfLine, endsOf } from "./places.js";
import { Sheet, svgPoints, useSheet } from "./sheet.js";

// `found` are boxes; one without lines on the page is shown as the line at the caret is. `closer` is a new object each time
// the scan is to be zoomed: {to: "line"} to the line at the caret, or back; "lines" as far as the widest line allows; "page"
// to the whole width.
export function Scan({ page, active, caret, found, closer, onClick }) {
  const sheet = useSheet(page, "text");
  const { view, redraw, inFrame, pointAt } = sheet;
  const drag = useRef(null);

  const line = active?.line;
  const own = line ? boxOfLine(line) : null;
  const box = line && caret !== null ? boxAt(line, active.text, caret) : own;
  const seen = box ?? (page.lines.length ? null : found[0]);
  const key = seen?.join();
  useEffect(() => {
    if (seen && !drag.current) {
      sheet.show(endsOf(seen), own && endsOf(own));
      redraw();
    }
  }, [line?.id, key]);

  useEffect(() => {
    if (!closer || !own) return;
    if (closer.to === "page") sheet.zoom(null);
    else if (closer.to === "line") sheet.closer(endsOf(own), true);
    else sheet.closer(endsOf([...own.slice(0, 2), ...widest(page.lines).map((size, axis) => own[axis] + size)]), false);
  }, [closer, own === null]);

  const down = (event) => {
    if (event.button) return;
    drag.current = { pointer: event.pointerId, at: inFrame(event), isMoved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const held = drag.current;
    if (held?.pointer !== event.pointerId) return;
    const here = inFrame(event);
    const [x, y] = [0, 1].map((axis) => here[axis] - held.at[axis]);
    if (!held.isMoved && Math.hypot(x, y) < 4) return;
    view.current.pan(-x, -y);
    drag.current = { ...held, at: here, isMoved: true };
    redraw();
  };
  const up = (event) => {
    const held = drag.current;
    drag.current = null;
    if (held && !held.isMoved) onClick(lineUnder(event), pointAt(inFrame(event)));
    redraw();
  };
  const cancel = () => {
    drag.current = null;
  };
  const rect = (kind, [left, top, right, bottom]) =>
    html`<rect class=${kind} x=${left} y=${top} width=${Math.max(4, right - left)} height=${bottom - top} rx=${3 / (view.current?.scale ?? 1)} />`;
  const lineUnder = (event) =>
    document.elementsFromPoint(event.clientX, event.clientY).find((other) => other.dataset.outline)?.dataset.outline;
  const keys = (event) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && sheet.press(event)) event.preventDefault();
  };
  return html`
    <${Sheet} page=${page} sheet=${sheet} aria-label="Scan; arrow keys move it, plus and minus zoom, 0 fits the width"
      onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${cancel} onKeyDown=${keys}>
      <svg viewBox=${`0 0 ${page.width} ${page.height}`} aria-hidden="true">
        ${page.lines.map(
          (other) =>
            other.polygon?.length > 2 &&
            html`<polygon key=${other.id} class="outline" data-outline=${other.id} data-status=${other.status}
              data-active=${other.id === line?.id ? "" : null} points=${svgPoints(other.polygon)} />`,
        )}
        ${found.map((other) => rect("found", other))}
        ${box && caret !== null && rect("place", box)}
      </svg>
    <//>`;
}

// The largest width and height of lines.
function widest(lines) {
  const boxes = lines.map(boxOfLine).filter(Boolean);
  const most = (first) => Math.max(...boxes.map((box) => box[first + 2] - box[first]));
  return [most(0), most(1)];
}
